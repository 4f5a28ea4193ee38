// A provider that somebody else has written, and its own idea of the protocol.

import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
// @ts-expect-error It comes without types.
import { Provider as UntypedProvider } from 'oidc-provider'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { clientId, clientSecret } from './hostile-provider.ts'
import { openSso } from './open-sso.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void
const Provider = UntypedProvider as new (issuer: string, settings: object) => { callback(): Handler }

/** Follows a browser's way through the provider's own pages, with the cookies that it sets. */
async function signInThere(address: string, account: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next: { url: string; form?: string } = { url: address }
  for (let step = 0; step < 12; step++) {
    const response: Response = await fetch(next.url, {
      redirect: 'manual',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        'content-type': 'application/x-www-form-urlencoded',
      },
      ...(next.form !== undefined && { method: 'POST', body: next.form }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location !== null) {
      const url = new URL(location, next.url).href
      if (url.startsWith('https://ai.example.com/')) return url
      next = { url }
      continue
    }
    const page = await response.text()
    const action = /action="([^"]+)"/.exec(page)?.[1] ?? ''
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? ''
    next = { url: new URL(action, next.url).href, form: `prompt=${prompt}&login=${account}&password=x` }
  }
  throw new Error('It never comes back.')
}

test('somebody signs in by a provider from npm, with what it keeps for its user info', async (t) => {
  const server = createServer()
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sso = await openSso(await openMemoryDatabase(), Date.now())
  t.after(() => sso.close())
  const connectionId = await sso.connect({ tokenAuth: 'client_secret_post' }, issuer)
  const redirectUri = `https://ai.example.com/sso/${connectionId}/callback`
  const client = { client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }
  const provider = new Provider(issuer, {
    clients: [{ ...client, token_endpoint_auth_method: 'client_secret_post' }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['of a test'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@acme.example`, email_verified: true, name: 'Ann Lee' }),
    }),
  })
  server.on('request', provider.callback())
  const browser = sso.browser()
  const returned = new URL(await signInThere(await browser.begin(connectionId), 'ann'))
  const answer = await browser.back(connectionId, returned.searchParams)
  const attempts = await sso.service.db.selectFrom('login_attempts').select(['outcome', 'code']).execute()
  deepEqual(
    attempts.map((row) => ({ ...row })),
    [{ outcome: 'signed-in', code: null }],
  )
  equal(answer.status, 303)
  deepEqual((await browser.ask('GET', 'session')).body['user'], {
    ...((await browser.ask('GET', 'session')).body['user'] as object),
    name: 'Ann Lee',
    email: 'ann@acme.example',
  })
})
