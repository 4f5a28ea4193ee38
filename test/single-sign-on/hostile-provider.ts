// A provider of OpenID Connect that tells the truth unless a test has it lie. Written with nothing of the libraries that
// the service checks it by.

import { createHash, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Fields = Record<string, unknown>

/** How an answer differs from the true one. */
export type Lie = {
  readonly discovery?: (document: Fields) => Fields
  readonly keys?: (keys: Fields[]) => Fields[]
  readonly header?: (header: Fields) => Fields
  readonly claims?: (claims: Fields) => Fields
  /** Makes the signature; that of the provider's key unless given. */
  readonly signature?: (input: string) => Buffer
  readonly idToken?: (token: string) => string | undefined
  readonly answer?: (answer: Fields) => Fields
  readonly userInfo?: (claims: Fields) => Fields
  /** Takes any verifier for a code, and a code as often as it comes. */
  readonly isLax?: boolean
  /** The path at which it takes a request and never answers. */
  readonly hangsAt?: string
}

type Code = { readonly nonce: string; readonly challenge: string }

export const base64url = (content: string | Buffer) => Buffer.from(content).toString('base64url')
export const clientId = 'odyssey'
export const clientSecret = 'a secret of the client'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
export const otherKey = otherRsa.privateKey
export const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string

export const jwkOf = (key: KeyObject, fields: Fields): Fields => ({ ...key.export({ format: 'jwk' }), ...fields })
export const otherJwk = (fields: Fields) => jwkOf(otherRsa.publicKey, fields)

export class HostileProvider {
  lie: Lie = {}
  /** The paths that were asked for. */
  readonly asked: string[] = []
  readonly #server: Server
  readonly #hung = new EventEmitter()
  readonly #codes = new Map<string, Code>()
  readonly #nowMs: () => number
  /** Whom the last token was about. */
  #subject: unknown = 'subject-1'

  private constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async open(nowMs: () => number): Promise<HostileProvider> {
    const provider = new HostileProvider(nowMs)
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve))
    return provider
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Resolves when a request waits that is never answered, with what resolves when whoever asks has given up. */
  async hangs(): Promise<{ readonly givenUp: Promise<unknown> }> {
    const [response] = (await once(this.#hung, 'request')) as [ServerResponse]
    return { givenUp: once(response, 'close') }
  }

  /** What somebody's browser brings back who was sent to this address and has signed in here. */
  authorize(location: string): URLSearchParams {
    const { searchParams: asked } = new URL(location)
    const code = randomUUID()
    this.#codes.set(code, { nonce: asked.get('nonce') ?? '', challenge: asked.get('code_challenge') ?? '' })
    return new URLSearchParams({ code, state: asked.get('state') ?? '', iss: this.issuer })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.asked.push(path)
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    if (path === this.lie.hangsAt) return void this.#hung.emit('request', response)
    const form = new URLSearchParams(Buffer.concat(parts).toString())
    const [status, body] = this.#bodyOf(path, form, request.headers.authorization)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  #bodyOf(path: string, form: URLSearchParams, authorization = ''): [number, unknown] {
    if (path === '/.well-known/openid-configuration') return [200, this.#describe()]
    if (path === '/jwks') return [200, { keys: this.keys() }]
    if (path === '/token') return this.#exchange(form, authorization)
    if (path === '/userinfo') {
      const claims = { sub: this.#subject, email: 'new@acme.example', email_verified: true }
      return [200, this.lie.userInfo?.(claims) ?? claims]
    }
    return [404, {}]
  }

  #describe(): Fields {
    const { issuer } = this
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'RS384', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    }
    return this.lie.discovery?.(document) ?? document
  }

  keys(): Fields[] {
    const keys = [jwkOf(rsa.publicKey, { kid: 'k1', alg: 'RS256', use: 'sig' })]
    return this.lie.keys?.(keys) ?? keys
  }

  #exchange(form: URLSearchParams, authorization: string): [number, unknown] {
    const code = this.#codes.get(form.get('code') ?? '')
    if (this.lie.isLax !== true) this.#codes.delete(form.get('code') ?? '')
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isClient =
      authorization ===
      `Basic ${Buffer.from(`${clientId}:${encodeURIComponent(clientSecret).replaceAll('%20', '+')}`).toString('base64')}`
    if (code === undefined || (this.lie.isLax !== true && code.challenge !== verifier) || !isClient) {
      return [400, { error: isClient ? 'invalid_grant' : 'invalid_client' }]
    }
    const access = randomUUID()
    const id_token = this.#idToken(code.nonce, access)
    const answer = {
      access_token: access,
      token_type: 'Bearer',
      expires_in: 60,
      ...(id_token !== undefined && { id_token }),
    }
    return [200, this.lie.answer?.(answer) ?? answer]
  }

  #idToken(nonce: string, access: string): string | undefined {
    const now = Math.floor(this.#nowMs() / 1_000)
    const person = { sub: 'subject-1', email: 'new@acme.example', email_verified: true, name: 'New Person' }
    const at_hash = createHash('sha256').update(access).digest().subarray(0, 16).toString('base64url')
    const times = { iat: now, exp: now + 300, auth_time: now }
    const truth = { iss: this.issuer, aud: clientId, nonce, ...times, ...person, sid: 'session-1', groups: [], at_hash }
    const claims: Fields = this.lie.claims?.(truth) ?? truth
    this.#subject = claims['sub']
    const token = this.sign(claims, { typ: 'JWT' })
    return this.lie.idToken === undefined ? token : this.lie.idToken(token)
  }

  /** A token with these claims, signed as the lie has it. */
  sign(claims: Fields, fields: Fields): string {
    const plain = { alg: 'RS256', kid: 'k1', ...fields }
    const header = this.lie.header?.(plain) ?? plain
    const input = `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(claims))}`
    const signature = this.lie.signature?.(input) ?? sign('sha256', Buffer.from(input), rsa.privateKey)
    return `${input}.${base64url(signature)}`
  }
}

/** Signs with the provider's own key, by another digest. */
export const signWith =
  (digest: string, key: KeyObject = rsa.privateKey) =>
  (input: string) =>
    sign(digest, Buffer.from(input), key)
