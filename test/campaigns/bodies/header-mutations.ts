import { gzipSync } from 'node:zlib'
import type { Random } from '../random.ts'
import type { RawRequest } from '../raw-http.ts'

type Header = readonly [name: string, value: string]

export type Dressed = {
  readonly request: RawRequest
  /** Whether the key that goes along is good. */
  readonly isAuthorized: boolean
}

/** Adds the key and, now and then, headers that no client should send. */
export function dressRequest(
  random: Random,
  { path, body, key }: { readonly path: string; readonly body: Buffer; readonly key: string },
): Dressed {
  const credentials = random.chance(0.06) ? oddCredentials(random, key) : goodCredentials(random, key)
  const headers: Header[] = [...credentials.headers]
  if (path.startsWith('/v1/messages')) headers.push(['anthropic-version', '2023-06-01'])
  let sent = body
  if (random.chance(0.12)) {
    const odd = random.pick(oddHeaders)
    if (!headers.some(([name]) => name === odd[0])) headers.push(odd)
  }
  if (random.chance(0.04)) {
    const { encoding, encoded } = encode(random, body)
    headers.push(['content-encoding', encoding])
    sent = encoded
  }
  if (random.chance(0.05)) {
    headers.push(['transfer-encoding', 'chunked'])
    return { request: chunked(random, { path, headers, body: sent }), isAuthorized: credentials.isGood }
  }
  return { request: { path, headers, body: sent }, isAuthorized: credentials.isGood }
}

type Credentials = { readonly headers: readonly Header[]; readonly isGood: boolean }

function goodCredentials(random: Random, key: string): Credentials {
  const bearer: Header = ['authorization', `${random.pick(['Bearer', 'bearer', 'BEARER '])} ${key}`]
  const ways: readonly (readonly Header[])[] = [
    [bearer],
    [['x-api-key', key]],
    [bearer, ['x-api-key', 'sk-ant-left-over']],
    [
      ['authorization', 'Bearer sk-left-over'],
      ['x-api-key', key],
    ],
    [
      ['authorization', 'Basic dTpw'],
      ['x-api-key', key],
    ],
  ]
  return { headers: random.pick(ways), isGood: true }
}

function oddCredentials(random: Random, key: string): Credentials {
  const ways: readonly (readonly Header[])[] = [
    [],
    [['authorization', '']],
    [['authorization', 'Bearer']],
    [['authorization', 'Bearer ']],
    [['authorization', key]],
    [['authorization', `Basic ${key}`]],
    [['authorization', `Bearer ${key}x`]],
    [['authorization', `Bearer ${key.slice(0, -1)}`]],
    [['authorization', `Bearer ${key} ${key}`]],
    [['authorization', `Bearer ${'k'.repeat(8_000)}`]],
    [['authorization', "Bearer ' OR 1=1 --"]],
    [['authorization', 'Bearer \xff\xfe']],
    [['x-api-key', 'EMPTY']],
    [['x-api-key', '']],
    [['x-api-key', `${key},${key}`]],
    [['x-api-key', `\x80${key}`]],
  ]
  return { headers: random.pick(ways), isGood: false }
}

const oddHeaders: readonly Header[] = [
  ['content-type', 'text/plain'],
  ['content-type', ''],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'multipart/form-data'],
  ['content-type', ';;;,=\xff'],
  ['accept', 'text/html'],
  ['accept-encoding', 'br;q=9'],
  ['anthropic-version', '1999-01-01'],
  ['anthropic-version', '\xff'],
  ['anthropic-beta', 'a,b,,c=?'],
  ['anthropic-beta', 'x'.repeat(4_000)],
  ['openai-organization', 'org-\xe9'],
  ['x-request-id', 'req_forged'],
  ['request-id', 'req_forged'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
  ['cookie', 'a=b; __Host-x=y'],
  ['x-forwarded-for', '1.2.3.4, evil'],
  ['x-http-method-override', 'DELETE'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['host', 'evil.example:99999'],
  ['host', ''],
  ['te', 'trailers'],
  ['upgrade', 'h2c'],
  ['origin', 'null'],
  ['expect', '100-continue'],
]

function encode(random: Random, body: Buffer): { encoding: string; encoded: Buffer } {
  const zipped = gzipSync(body)
  return random.pick([
    { encoding: 'gzip', encoded: zipped },
    { encoding: 'GZIP', encoded: zipped },
    { encoding: 'identity', encoded: body },
    { encoding: 'gzip', encoded: body },
    { encoding: 'gzip', encoded: zipped.subarray(0, Math.ceil(zipped.length / 2)) },
    { encoding: 'gzip', encoded: Buffer.concat([zipped, Buffer.from('more')]) },
    { encoding: 'gzip', encoded: gzipSync(Buffer.alloc(40 * 1_024 * 1_024, 0x20)) },
    { encoding: 'br', encoded: body },
    { encoding: 'deflate, gzip', encoded: zipped },
    { encoding: 'gzip, gzip', encoded: gzipSync(zipped) },
    { encoding: '', encoded: body },
  ])
}

/** The same bytes in chunks of random sizes, sometimes with the extensions and trailers that the standard allows. */
function chunked(random: Random, { path, headers, body }: RawRequest & { headers: readonly Header[] }): RawRequest {
  const bytes = Buffer.from(body)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + random.integer(1, Math.max(1, Math.ceil(bytes.length / 4))))
    const extension = random.chance(0.2) ? ';name="value"' : ''
    parts.push(Buffer.from(`${part.length.toString(16)}${extension}\r\n`), part, Buffer.from('\r\n'))
    at += part.length
  }
  parts.push(Buffer.from(random.chance(0.2) ? '0\r\nx-trailer: 1\r\n\r\n' : '0\r\n\r\n'))
  return { path, headers, body: Buffer.concat(parts) }
}
