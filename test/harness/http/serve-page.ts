import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'

export type PageServer = { readonly origin: string; close(): Promise<void> }

const modules = join(import.meta.dirname, '../../../node_modules')
/** What the messages SDK imports for its tool runners and webhooks, as only a bundler could give it to a page. */
const left = { '@opentelemetry/api': '/left.js', standardwebhooks: '/left.js' }
const leftText = 'export let context, trace, propagation, SpanKind, SpanStatusCode, Webhook'
const page = `<!doctype html><script type="importmap">${JSON.stringify({ imports: left })}</script>`

/** An origin of its own, with an empty page and, below `/modules/`, the installed packages for it to import. */
export async function servePage(): Promise<PageServer> {
  const server = createServer(({ url = '/' }, response) => {
    void answer(normalize(url)).then(([type, text]) => {
      response.writeHead(text === null ? 404 : 200, { 'content-type': type }).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}

async function answer(path: string): Promise<readonly [type: string, text: string | null]> {
  if (path === '/') return ['text/html', page]
  return ['text/javascript', path === '/left.js' ? leftText : await readModule(path)]
}

function readModule(path: string): Promise<string | null> {
  if (!path.startsWith('/modules/')) return Promise.resolve(null)
  return readFile(join(modules, path.slice('/modules/'.length)), 'utf8').catch(() => null)
}
