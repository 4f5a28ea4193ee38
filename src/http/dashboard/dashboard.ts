import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { pathOf } from '../request-path.ts'
import { builtAtMs, readAssets, type Asset, type Assets } from './assets.ts'
import { assetHeaders, pageHeaders } from './policy.ts'

/** Where the dashboard's sources are, or in a package what was built of them. */
export const dashboardFolder = join(import.meta.dirname, '../../../web')

export type DashboardParts = {
  /** Holds `dist`, which is the build, and `dist.failed`, which says why there is none. */
  readonly folder: string
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
    return this.#assets?.build ?? null
  }

  /** Answers what asks for a file or a page of the dashboard. False for everything else, which it leaves as it was. */
  answer(request: FastifyRequest, reply: FastifyReply): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const path = pathOf(request.url)
    if (path.startsWith('/assets/')) return this.#answerFile(path, request, reply)
    // A client that does not ask for a page by name, as SDKs and curl do not, is told of a wrong address instead.
    if (!String(request.headers.accept).includes('text/html')) return false
    const assets = this.#current()
    if (assets === null) return this.#answerPreparing(path, reply)
    if (!assets.isPage(path)) return false
    void reply.headers(pageHeaders).type('text/html; charset=utf-8').send(withTheme(assets.html, request))
    return true
  }

  #answerFile(path: string, request: FastifyRequest, reply: FastifyReply): boolean {
    const asset = this.#assets?.files.get(path) ?? this.#current()?.files.get(path)
    if (asset === undefined) return false
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
    // While a build takes another's place there is none for a moment; what is in memory is whole.
    if (newest !== null && newest !== this.#builtAtMs) {
      this.#assets = readAssets(dist) ?? this.#assets
      this.#builtAtMs = newest
    }
    return this.#assets
  }

  #answerPreparing(path: string, reply: FastifyReply): boolean {
    if (path !== '/' && !/^\/(?:o|installation|account|login|setup|invite|docs|portal)(?:\/|$)/.test(path)) return false
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

function choose({ bytes, brotli, gzip }: Asset, accepted: string): { bytes: Buffer; encoding: 'br' | 'gzip' | null } {
  if (brotli !== null && /\bbr\b/.test(accepted)) return { bytes: brotli, encoding: 'br' }
  if (gzip !== null && /\bgzip\b/.test(accepted)) return { bytes: gzip, encoding: 'gzip' }
  return { bytes, encoding: null }
}

/** The reader's choice is in the page before anything runs, so that no page flashes in the other theme. */
function withTheme(html: string, { headers: { cookie = '' } }: FastifyRequest): string {
  const theme = /(?:^|;\s*)odyssey-theme=(light|dark)(?:;|$)/.exec(cookie)?.[1]
  return theme === undefined ? html : html.replace('<html lang="en"', `<html lang="en" data-theme="${theme}"`)
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
