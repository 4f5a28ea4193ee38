// Builds the dashboard into the folder named by the first argument: what Vite makes of the sources, each text also
// compressed as far as it goes, the list of paths that are pages, and the documents, each with its text. The service reads that
// folder into memory.

import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { isDocument, writeDocuments } from './guides/write-documents.ts'
import { paths } from './src/app/paths.ts'
import config from './vite.config.ts'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, 'dist'))
/** Shorter texts gain nothing. */
const compressedBytesMin = 512

await build({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir: folder } })
preloadFonts()
const style = copyStyle()
writeDocumentFiles()
for (const name of globSync('**/*.{js,css,svg,html}', { cwd: folder })) {
  const file = join(folder, name)
  if (statSync(file).size >= compressedBytesMin) compress(file)
}
for (const font of ['geist', 'geist-mono']) copyFileSync(licenceOf(font), join(folder, `licence-${font}.txt`))
writeFileSync(join(folder, 'pages.json'), JSON.stringify(Object.values(paths).filter((path) => !isDocument(path))))

/** The text's font is needed by the first picture, and without this would be asked for only after the style sheet is read. */
function preloadFonts(): void {
  const html = join(folder, 'index.html')
  const [font] = globSync('assets/geist-latin-wght-normal-*.woff2', { cwd: folder })
  if (font === undefined) throw new Error('The build has no font of its own.')
  const address = `/${font.replaceAll('\\', '/')}`
  const link = `<link rel="preload" as="font" type="font/woff2" crossorigin href="${address}" />`
  const page = readFileSync(html, 'utf8').replace('</head>', `${link}\n</head>`)
  // Nothing compresses it, and its indents are a twelfth of it.
  writeFileSync(html, page.replaceAll(/^ +/gm, ''))
}

/** What a reader without JavaScript sees the documents by. Its name changes with its content, as do those of all files there. */
function copyStyle(): string {
  const source = readFileSync(join(import.meta.dirname, 'guides/site/site.css'))
  const name = `assets/documents-${createHash('sha256').update(source).digest('hex').slice(0, 8)}.css`
  writeFileSync(join(folder, name), source)
  return `/${name}`
}

/** Each document is a page of its own: the program's, with the document's text for whoever does not run the program. */
function writeDocumentFiles(): void {
  for (const [path, html] of writeDocuments(readFileSync(join(folder, 'index.html'), 'utf8'), style)) {
    const file = join(folder, 'documents', `${path}.html`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, html)
  }
}

function compress(file: string): void {
  const bytes = readFileSync(file)
  // The pages themselves differ by theme, so the service compresses nothing of them.
  if (file.endsWith('.html')) return
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}

function licenceOf(font: string): string {
  const manifest = createRequire(import.meta.url).resolve(`@fontsource-variable/${font}/package.json`)
  return join(dirname(manifest), 'LICENSE')
}
