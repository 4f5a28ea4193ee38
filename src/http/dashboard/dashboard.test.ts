// The door with a build of the dashboard made by hand: what is served, to whom, and with what headers.

import { deepEqual, doesNotMatch, equal, match, notEqual } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import fastify, { type InjectOptions } from 'fastify'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { createLog } from '../../telemetry/log.ts'
import { Dashboard } from './dashboard.ts'

const script = 'export const answer = 42\n'.repeat(50)
const asPage = { accept: 'text/html,application/xhtml+xml' }

function makeBuild(folder: string, title = 'Odyssey'): void {
  const dist = join(folder, 'dist')
  mkdirSync(join(dist, 'assets'), { recursive: true })
  writeFileSync(join(dist, 'index.html'), `<!doctype html><html lang="en"><title>${title}</title></html>`)
  writeFileSync(join(dist, 'assets/index-A1.js'), script)
  writeFileSync(join(dist, 'assets/index-A1.js.br'), brotliCompressSync(script))
  mkdirSync(join(dist, 'documents/docs/guides'), { recursive: true })
  for (const path of ['docs', 'docs/guides/running', 'docs/not-found']) {
    const text = `<!doctype html><html lang="en"><noscript>This is ${path}. curl http://127.0.0.1:8080/v1</noscript></html>`
    writeFileSync(join(dist, 'documents', `${path}.html`), text)
  }
  writeFileSync(join(dist, 'pages.json'), JSON.stringify(['/', '/login', '/o/:organizationId/keys']))
}

function open(t: TestContext, { isBuilt = true, arePricesPublic = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-dashboard-'))
  t.after(() => rmSync(folder, { recursive: true }))
  if (isBuilt) makeBuild(folder)
  const clock = createManualClock()
  const dashboard = new Dashboard({ folder, arePricesPublic, clock, log: createLog('silent') })
  const app = fastify()
  app.setNotFoundHandler((request, reply) => (dashboard.answer(request, reply) ? reply : reply.code(404).send('none')))
  t.after(() => app.close())
  const ask = (url: string, headers: Record<string, string> = {}, method: InjectOptions['method'] = 'GET') =>
    app.inject({ method: method ?? 'GET', url, headers })
  return { folder, clock, dashboard, ask }
}

suite('the dashboard at the door', () => {
  test('has its pages at their own addresses only, and only for a client that asks for a page', async (t) => {
    const { ask } = open(t)
    for (const path of ['/', '/login', '/o/org_1/keys', '/o/org_1/keys?q=x']) {
      equal((await ask(path, asPage)).statusCode, 200, path)
    }
    for (const path of ['/nothing', '/o/org_1/keys/a/b', '/v1/models', '/login.php', '/..%2fpages.json']) {
      equal((await ask(path, asPage)).statusCode, 404, path)
    }
    equal((await ask('/', { accept: '*/*' })).statusCode, 404)
    equal((await ask('/', { accept: 'application/json' })).statusCode, 404)
    equal((await ask('/login', asPage, 'POST')).statusCode, 404)
  })

  test('has the text of a document for everything that does not ask for something else', async (t) => {
    const { ask } = open(t)
    for (const headers of [asPage, { accept: '*/*' }, {}, { accept: 'text/html' }]) {
      for (const path of ['/docs', '/docs/guides/running', '/docs/guides/running?q=x']) {
        const { statusCode, body, headers: said } = await ask(path, headers)
        equal(statusCode, 200, path)
        match(body, new RegExp(`This is ${path.slice(1).split('?', 1)[0]}\\.`))
        equal(said['content-type'], 'text/html; charset=utf-8')
      }
      match((await ask('/docs/guides/running/', headers)).body, /This is docs\/guides\/running\./)
    }
    equal((await ask('/docs', { accept: 'application/json' })).statusCode, 404)
  })

  test('names in a document the address at which it is read, and none that is no address', async (t) => {
    const { ask } = open(t)
    const named = async (host: string) => /curl (.*)<\/noscript>/.exec((await ask('/docs', { host })).body)?.[1]
    equal(await named('ai.example.com:9000'), 'http://ai.example.com:9000/v1')
    equal(await named('[::1]:9000'), 'http://[::1]:9000/v1')
    equal(await named('"><script>'), 'http://127.0.0.1:8080/v1')
  })

  test('says on a page, with the status of an error, that there is no document at an address', async (t) => {
    const { ask } = open(t)
    for (const path of ['/docs/nothing', '/docs/guides/nothing', '/docs/guides', '/docs/..%2f..%2fpages.json']) {
      for (const headers of [asPage, { accept: '*/*' }]) {
        const { statusCode, body } = await ask(path, headers)
        equal(statusCode, 404, path)
        match(body, /data-build.*This is docs\/not-found\./, path)
      }
    }
    equal((await ask('/docsy', { accept: '*/*' })).body, 'none')
  })

  test('lets nothing but its own files run, keeps no page and is in no frame', async (t) => {
    const { headers } = await open(t).ask('/login', asPage)
    equal(
      headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
        "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
        "require-trusted-types-for 'script'; trusted-types 'none'; report-uri /api/v1/csp-reports; report-to csp",
    )
    equal(headers['reporting-endpoints'], 'csp="/api/v1/csp-reports"')
    equal(headers['cache-control'], 'no-store')
    equal(headers['x-frame-options'], 'DENY')
    equal(headers['x-content-type-options'], 'nosniff')
    equal(headers['referrer-policy'], 'no-referrer')
    equal(headers['cross-origin-opener-policy'], 'same-origin')
    match(String(headers['permissions-policy']), /camera=\(\).*publickey-credentials-get=\(self\)/)
  })

  test('sends files in the fewest bytes that the client reads, and lets them be kept for ever', async (t) => {
    const { ask } = open(t)
    const packed = await ask('/assets/index-A1.js', { 'accept-encoding': 'gzip, br' })
    equal(packed.headers['content-encoding'], 'br')
    equal(brotliDecompressSync(packed.rawPayload).toString(), script)
    const plain = await ask('/assets/index-A1.js')
    equal(plain.body, script)
    equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
    const known = await ask('/assets/index-A1.js', { 'if-none-match': String(plain.headers['etag']) })
    equal(known.statusCode, 304)
    equal((await ask('/assets/index-B2.js')).statusCode, 404)
    equal((await ask('/assets/../pages.json')).statusCode, 404)
  })

  test('has the theme that was chosen in the page before anything runs', async (t) => {
    const { ask } = open(t)
    match(
      (await ask('/', { ...asPage, cookie: 'a=b; odyssey-theme=dark' })).body,
      /<html lang="en" data-build="\w+" data-guest data-theme="dark">/,
    )
    match(
      (await ask('/', { ...asPage, cookie: 'odyssey-theme=dark"><script>' })).body,
      /<html lang="en" data-build="\w+" data-guest>/,
    )
  })

  test('says in the page whether its browser can have signed in', async (t) => {
    const { ask } = open(t)
    for (const cookie of ['odyssey=abc', 'a=b; __Host-odyssey=abc'])
      match((await ask('/', { ...asPage, cookie })).body, /<html lang="en" data-build="\w+">/)
    for (const cookie of ['', 'odyssey-theme=light', 'odyssey-portal=abc; notodyssey=abc'])
      match((await ask('/', { ...asPage, cookie })).body, /<html lang="en" data-build="\w+" data-guest/)
  })

  test('says in the page whether the prices are for everybody', async (t) => {
    match((await open(t, { arePricesPublic: true }).ask('/', asPage)).body, /<html [^>]* data-prices[ >]/)
    doesNotMatch((await open(t).ask('/', asPage)).body, /data-prices/)
  })

  test('says that it is being prepared until it is built, and is there then without a restart', async (t) => {
    const { ask, folder, clock } = open(t, { isBuilt: false })
    const early = await ask('/', asPage)
    deepEqual([early.statusCode, early.headers['refresh']], [503, '2'])
    match(early.body, /being prepared/)
    equal((await ask('/v1', asPage)).statusCode, 404)
    makeBuild(folder)
    clock.advance(2_000)
    equal((await ask('/', asPage)).statusCode, 200)
  })

  test('says that it could not be built, and does not reload for ever', async (t) => {
    const { ask, folder } = open(t, { isBuilt: false })
    writeFileSync(join(folder, 'dist.failed'), 'no registry')
    const { body, headers } = await ask('/', asPage)
    match(body, /could not be built/)
    equal(headers['refresh'], undefined)
  })

  test('serves another build as soon as one has taken the place of the first', async (t) => {
    const { ask, dashboard, folder, clock } = open(t)
    const before = dashboard.build()
    match((await ask('/', asPage)).body, new RegExp(`data-build="${before}".*Odyssey`))
    makeBuild(folder, 'Another')
    utimesSync(join(folder, 'dist/pages.json'), new Date(), new Date(Date.now() + 5_000))
    clock.advance(2_000)
    match((await ask('/', asPage)).body, /Another/)
    notEqual(dashboard.build(), before, 'A page that is open notices the other build by its name.')
  })
})
