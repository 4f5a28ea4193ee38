// Writes the guides and the reference of both APIs as static files, which work in any folder, on any web server and from
// a disk, and are searched without a server:
//
//     npm run docs -- FOLDER

import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'vite'
import { describeApi } from '../src/http/api/openapi.ts'
import { routes } from '../src/http/api/routes.ts'
import { describeWireFormats } from '../src/http/documents/wire-openapi.ts'
import { openFormats } from '../src/protocols/formats.ts'
import { guidesPlugin } from '../web/guides/guides-plugin.ts'
import { readGuides } from '../web/guides/read-guides.ts'
import { wayTo, writePage, type SitePage } from '../web/guides/site/frame.ts'
import { writeGuide } from '../web/guides/site/write-guide.ts'
import { writeReference } from '../web/guides/site/write-reference.ts'
import type { OpenApi } from '../web/src/app/docs/openapi.ts'

const root = join(import.meta.dirname, '..')
const site = join(root, 'web/guides/site')

/** Throws for a folder in which something else is: pages of an earlier time would stay among the new ones. */
export async function exportDocs(folder: string): Promise<readonly string[]> {
  const isOurs = existsSync(join(folder, 'find.js'))
  if (existsSync(folder) && readdirSync(folder).length > 0 && !isOurs) throw new Error(`${folder} is not empty.`)
  const pages = describePages()
  for (const page of pages) {
    const file = join(folder, page.file)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, writePage(page, entries))
  }
  copyFileSync(join(site, 'site.css'), join(folder, 'site.css'))
  await bundleSearch(folder)
  return pages.map(({ file }) => file)
}

const guides = readGuides()
const entries = guides.map(({ entry }) => entry)

function describePages(): SitePage[] {
  const formats = openFormats({ signatureKey: new Uint8Array(32), readFingerprint: () => '' })
  const address = 'http://127.0.0.1:8080'
  return [
    {
      file: 'index.html',
      title: 'Guides',
      content:
        '<p>For who uses the models, and for who runs the service.</p>' +
        `<p>New here? <a href="guides/getting-started.html">Getting started</a> leads from the first start to a call that ` +
        'is answered, a price, a budget on a key and an alert. Or choose a guide, or say what you look for.</p>',
    },
    ...guides.map(({ entry: { slug, title }, guide }) => {
      const file = `guides/${slug}.html`
      const content = writeGuide(guide, (other) => wayTo(`guides/${other}.html`, file))
      return { file, title, content }
    }),
    {
      file: 'reference/models.html',
      title: 'Models API',
      content: writeReference({ document: asOpenApi(describeWireFormats(formats)), address, variable: 'ODYSSEY_KEY' }),
    },
    {
      file: 'reference/management.html',
      title: 'Management API',
      content: writeReference({
        document: asOpenApi(describeApi(routes)),
        address,
        variable: 'ODYSSEY_MANAGEMENT_KEY',
      }),
    },
  ]
}

/** As it is when it is sent: what is left out there is nowhere. */
function asOpenApi(document: unknown): OpenApi {
  return JSON.parse(JSON.stringify(document)) as OpenApi
}

/** One script of the plain kind, as pages from a disk may load no modules. */
async function bundleSearch(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: site,
    logLevel: 'warn',
    plugins: [guidesPlugin()],
    build: {
      target: 'es2023',
      outDir: folder,
      emptyOutDir: false,
      copyPublicDir: false,
      reportCompressedSize: false,
      lib: { entry: join(site, 'find.ts'), formats: ['iife'], name: 'odysseyGuides', fileName: () => 'find.js' },
    },
  })
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('npm run docs -- FOLDER')
  const files = await exportDocs(resolve(folder))
  console.log(`${files.length} pages in ${folder}; begin with index.html.`)
}
