// Builds the dashboard into the folder named by the first argument: what Vite makes of the sources, each text also
// compressed as far as it goes, and the list of paths that are pages. The service reads that folder into memory.

import { copyFileSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { paths } from './src/app/paths.ts'
import config from './vite.config.ts'

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, 'dist'))
/** Shorter texts gain nothing. */
const compressedBytesMin = 512

await build({ ...config, configFile: false, logLevel: 'warn', build: { ...config.build, outDir: folder } })
preloadFonts()
for (const name of globSync('**/*.{js,css,svg,html}', { cwd: folder })) {
  const file = join(folder, name)
  if (statSync(file).size >= compressedBytesMin) compress(file)
}
for (const font of ['geist', 'geist-mono']) copyFileSync(licenceOf(font), join(folder, `licence-${font}.txt`))
writeFileSync(join(folder, 'pages.json'), JSON.stringify(Object.values(paths)))

/** The text's font is needed by the first picture, and without this would be asked for only after the style sheet is read. */
function preloadFonts(): void {
  const html = join(folder, 'index.html')
  const [font] = globSync('assets/geist-latin-wght-normal-*.woff2', { cwd: folder })
  if (font === undefined) throw new Error('The build has no font of its own.')
  const address = `/${font.replaceAll('\\', '/')}`
  const link = `<link rel="preload" as="font" type="font/woff2" crossorigin href="${address}" />`
  writeFileSync(html, readFileSync(html, 'utf8').replace('</head>', `  ${link}\n  </head>`))
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
