import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { mayHaveSession } from '../api/browser.ts'
import { pathOf } from '../request-path.ts'
import { assetHeaders, pageHeaders } from './policy.ts'

/** Where the dashboard's sources are, or in a package what was built of them. */
export const dashboardFolder = fileURLToPath(new URL('../../../web', import.meta.url))

export type DashboardParts = {
  /** Holds `dist`, which is the build, and `dist.failed`, which says why there is none. */
  readonly folder: string
  /** Whether anybody may read the prices. A page that is not told so does not ask for them. */
  readonly arePricesPublic: boolean
  readonly clock: Clock
  readonly log: Log
}

/** It is looked this seldom whether another build has taken the place of the one in memory. */
const lookAgainMs = 2_000

/** Serves the pages and files of the dashboard, which may still be in the making when the service starts. */
export class Dashboard {
  readonly #parts: DashboardParts
  #assets: Assets | null = null
  #builtAtMs: number | null = null
  #lookedAtMs = -Infinity
  #hasToldFailure = false

  constructor(parts: DashboardParts) {
    this.#parts = parts
  }

  /** The build that is served; null before there is one. */
  build(): string | null {
    return this.#current()?.build ?? null
  }

  /** Answers what asks for a file or a page of the dashboard. False for everything else, which it leaves as it was. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = pathOf(request.url)
    if (path.startsWith('/assets/')) return this.#answerFile(path, request, reply)
    if (!asksForPage(path, request.headers.accept)) return false
    const assets = this.#current()
    if (assets === null) return this.#answerPreparing(path, reply)
    const html = isDocument(path) ? assets.document(path) : assets.page(path)
    if (html === null && !isDocument(path)) return false
    if (html === null) void reply.code(404)
    void reply.headers(pageHeaders).type('text/html; charset=utf-8')
    const marks = marksOf(assets.build, this.#parts, request)
    const said = (html ?? assets.noDocument).replace('<html lang="en"', `<html lang="en" ${marks}`)
    void reply.send(isDocument(path) ? withOwnAddress(said, request) : said)
    return true
  }

  #answerFile(path: string, request: FastifyRequest, reply: FastifyReply): boolean {
    const asset = this.#assets?.file(path) ?? this.#current()?.file(path) ?? null
    if (asset === null) return false
    void reply.headers({
      ...assetHeaders,
      // The name changes with the content.
      'cache-control': 'public, max-age=31536000, immutable',
      etag: asset.etag,
      vary: 'Accept-Encoding',
    })
    if (request.headers['if-none-match'] === asset.etag) {
      void reply.code(304).send()
      return true
    }
    const { bytes, encoding } = choose(asset, String(request.headers['accept-encoding']))
    if (encoding !== null) void reply.header('content-encoding', encoding)
    void reply.type(asset.type).send(bytes)
    return true
  }

  #current(): Assets | null {
    const { clock, folder } = this.#parts
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#lookedAtMs < lookAgainMs) return this.#assets
    this.#lookedAtMs = nowMs
    const dist = join(folder, 'dist')
    const newest = builtAtMs(dist)
    // While a build takes another's place there is none for a moment; the page in memory stays.
    if (newest !== null && newest !== this.#builtAtMs) {
      this.#assets = readAssets(dist) ?? this.#assets
      this.#builtAtMs = newest
    }
    return this.#assets
  }

  #answerPreparing(path: string, reply: FastifyReply): boolean {
    if (path !== '/' && !/^\/(?:o|installation|account|device|login|setup|invite|docs|portal)(?:\/|$)/.test(path))
      return false
    const failure = join(this.#parts.folder, 'dist.failed')
    const hasFailed = statSync(failure, { throwIfNoEntry: false }) !== undefined
    if (hasFailed && !this.#hasToldFailure) {
      this.#hasToldFailure = true
      this.#parts.log.error({ reason: readFileSync(failure, 'utf8').slice(0, 1_000) }, 'the dashboard was not built')
    }
    void reply.headers({ ...pageHeaders, ...(!hasFailed && { refresh: '2' }) }).code(503)
    void reply.type('text/html; charset=utf-8').send(hasFailed ? failedPage : preparingPage)
    return true
  }
}

/**
 * A client that does not ask for a page by name, as SDKs and curl do not, is told of a wrong address instead. Documents are
 * to be read by everything that does not ask for something else: curl, readers of text and crawlers among them.
 */
function asksForPage(path: string, accept = '*/*'): boolean {
  return accept.includes('text/html') || (isDocument(path) && accept.includes('*/*'))
}

function isDocument(path: string): boolean {
  return /^\/docs(?:\/|$)/.test(path)
}

function choose({ bytes, brotli, gzip }: Asset, accepted: string): { bytes: Buffer; encoding: 'br' | 'gzip' | null } {
  if (brotli !== null && /\bbr\b/.test(accepted)) return { bytes: brotli, encoding: 'br' }
  if (gzip !== null && /\bgzip\b/.test(accepted)) return { bytes: gzip, encoding: 'gzip' }
  return { bytes, encoding: null }
}

/**
 * The reader's theme is in the page before anything runs, so that no page flashes in the other one; so is its build, and that
 * nobody has signed in, which then need not be asked, nor need prices that are not for everybody.
 */
function marksOf(
  build: string,
  { arePricesPublic }: DashboardParts,
  { headers: { cookie = '' } }: FastifyRequest,
): string {
  const theme = /(?:^|;\s*)odyssey-theme=(light|dark)(?:;|$)/.exec(cookie)?.[1]
  const guest = mayHaveSession(cookie) ? '' : ' data-guest'
  const prices = arePricesPublic ? ' data-prices' : ''
  return `data-build="${build}"${guest}${prices}${theme === undefined ? '' : ` data-theme="${theme}"`}`
}

/** Where a service listens that nobody has told otherwise, as the guides have it. */
const exampleAddress = /http:\/\/(?:127\.0\.0\.1|localhost):8080\b/g

/** A document's examples with the address at which it is being read. A name that no host can have is put nowhere. */
function withOwnAddress(html: string, { protocol, host }: FastifyRequest): string {
  if (!/^[\w.:[\]-]+$/.test(host)) return html
  return html.replaceAll(exampleAddress, `${protocol}://${host}`)
}

const page = (title: string, text: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>` +
  `<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>` +
  `<body><h1>${title}</h1><p>${text}</p></body></html>`

const preparingPage = page(
  'The dashboard is being prepared',
  'This takes some seconds after the first start and after an update. The page reloads by itself; the API answers already.',
)
const failedPage = page(
  'The dashboard could not be built',
  'The API works. The service’s log says why the build failed; start Odyssey again to build it anew. ' +
    'It needs the package registry once, and about 80 MB while it is built.',
)

/** A file of the dashboard as it is sent: the bytes, and the same in fewer where the build has compressed them. */
type Asset = {
  readonly type: string
  readonly etag: string
  readonly bytes: Buffer
  readonly brotli: Buffer | null
  readonly gzip: Buffer | null
}

/** What the build has made. An address is looked up by its exact text, so none leads to another file. */
type Assets = {
  /** The build's own name: another one means that a page which is open is of an earlier build. */
  readonly build: string
  /** A file by its path; null where there is none. Each is read when it is first asked for. */
  file(path: string): Asset | null
  /** The page of an address that is no document's; null where there is none. */
  page(path: string): string | null
  /** The page of a document, with its text for who does not run the program; null where there is none. */
  document(path: string): string | null
  /** What stands where no document is. */
  readonly noDocument: string
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** Reads what was built; null where nothing was. Files of earlier builds lie beside those of the last, so there can be thousands. */
function readAssets(folder: string): Assets | null {
  const pages = readIfPresent(join(folder, 'pages.json'))
  if (pages === null) return null
  const names = new Set(readdirSync(join(folder, 'assets')))
  const read = new Map<string, Asset>()
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const documents = readDocuments(join(folder, 'documents'))
  const patterns = (JSON.parse(pages.toString()) as string[]).map(toPattern)
  return {
    build: createHash('sha256').update(html).digest('hex').slice(0, 12),
    file(path) {
      const name = path.slice('/assets/'.length)
      const asset = read.get(name) ?? (names.has(name) ? readAsset(join(folder, 'assets', name)) : null)
      if (asset !== null) read.set(name, asset)
      return asset
    },
    page: (path) => (patterns.some((pattern) => pattern.test(path)) ? html : null),
    document: (path) => documents.get(path.replace(/\/$/, '')) ?? null,
    noDocument: documents.get(noDocumentPath) ?? html,
  }
}

/** Where the build keeps what stands where no document is. */
const noDocumentPath = '/docs/not-found'

/** The documents by their addresses. They are less than a megabyte together. */
function readDocuments(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
  return new Map(
    files.map((name) => {
      const path = `/${name.replaceAll('\\', '/').replace(/\.html$/, '')}`
      return [path, readFileSync(join(folder, name), 'utf8')]
    }),
  )
}

/** When it was built last; null before the first time. */
function builtAtMs(folder: string): number | null {
  return statSync(join(folder, 'pages.json'), { throwIfNoEntry: false })?.mtimeMs ?? null
}

/** Null for a kind of file that is not served, as what others are in fewer bytes, and for one that is gone. */
function readAsset(file: string): Asset | null {
  const type = types[extname(file)]
  const bytes = type === undefined ? null : readIfPresent(file)
  if (type === undefined || bytes === null) return null
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { type, etag, bytes, brotli: readIfPresent(`${file}.br`), gzip: readIfPresent(`${file}.gz`) }
}

function readIfPresent(file: string): Buffer | null {
  return statSync(file, { throwIfNoEntry: false }) === undefined ? null : readFileSync(file)
}

/** `/o/:organizationId/keys`, as the dashboard's own table of paths has it. */
function toPattern(path: string): RegExp {
  const parts = path.split('/').map((part) => (part.startsWith(':') ? '[^/]{1,100}' : RegExp.escape(part)))
  return new RegExp(`^${parts.join('/')}/?$`)
}
