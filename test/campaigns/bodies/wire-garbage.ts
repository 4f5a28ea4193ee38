import type { Random } from '../random.ts'

export type Garbage = {
  readonly name: string
  readonly bytes: Buffer
  /** Errors that are not about bytes have the form of this path. */
  readonly path: string
}

const path = '/v1/messages'
const body = '{"model":"tycho-1.0","max_tokens":1,"messages":[{"role":"user","content":"Hi"}]}'

/** Bytes that are no proper HTTP request, or only just one. */
export function wireGarbage(random: Random, key: string): Garbage {
  const [name, make] = random.pick(makers)
  const made = make({ random, auth: `authorization: Bearer ${key}\r\nhost: x\r\n` })
  const [text, at = path] = typeof made === 'string' || Buffer.isBuffer(made) ? [made] : made
  return { name, bytes: Buffer.isBuffer(text) ? text : Buffer.from(text, 'latin1'), path: at }
}

type Making = { readonly random: Random; readonly auth: string }
type Made = string | Buffer | readonly [text: string, path: string]

const post = (headers: string, content: string) => `POST ${path} HTTP/1.1\r\n${headers}\r\n${content}`
const length = `content-length: ${body.length}\r\n`
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`
const te = 'transfer-encoding: chunked\r\n'

const makers: readonly (readonly [name: string, make: (making: Making) => Made])[] = [
  ['random bytes', ({ random }) => Buffer.from(Array.from({ length: 200 }, () => random.integer(0, 255)))],
  ['TLS hello', () => Buffer.from('160301020001000001fc0303', 'hex')],
  ['HTTP/2 preface', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['empty lines', () => '\r\n\r\n\r\n\r\n'],
  ['length and chunks', ({ auth }) => post(auth + length + te, `${chunk}0\r\n\r\n`)],
  ['chunks and length', ({ auth }) => post(auth + te + length, body)],
  ['two lengths', ({ auth }) => post(`${auth}${length}content-length: 5\r\n`, body)],
  ['a list of lengths', ({ auth }) => post(`${auth}content-length: 5, 5\r\n`, body)],
  ['a negative length', ({ auth }) => post(`${auth}content-length: -5\r\n`, body)],
  ['a signed length', ({ auth }) => post(`${auth}content-length: +5\r\n`, body)],
  ['a huge length', ({ auth }) => post(`${auth}content-length: 99999999999999999999\r\n`, body)],
  ['a length beyond the limit', ({ auth }) => post(`${auth}content-length: 999999999\r\n`, body)],
  ['unknown transfer coding', ({ auth }) => post(`${auth}transfer-encoding: xchunked\r\n`, chunk)],
  ['coding after chunked', ({ auth }) => post(`${auth}transfer-encoding: chunked, gzip\r\n`, chunk)],
  ['chunked twice', ({ auth }) => post(`${auth}${te}${te}`, `${chunk}0\r\n\r\n`)],
  ['tab before chunked', ({ auth }) => post(`${auth}transfer-encoding:\tchunked\r\n`, `${chunk}0\r\n\r\n`)],
  ['space before the colon', ({ auth }) => post(`${auth}transfer-encoding : chunked\r\n${length}`, body)],
  ['folded header', ({ auth }) => post(`${auth}x-a: b\r\n c\r\n${length}`, body)],
  ['bare line feeds', ({ auth }) => post(auth + length, body).replaceAll('\r\n', '\n')],
  ['bare carriage return', ({ auth }) => post(`${auth}x-a: b\rc\r\n${length}`, body)],
  ['NUL in a header', ({ auth }) => post(`${auth}x-a: b\0c\r\n${length}`, body)],
  ['a bad chunk size', ({ auth }) => post(auth + te, `zz\r\n${body}\r\n0\r\n\r\n`)],
  ['a negative chunk size', ({ auth }) => post(auth + te, `-5\r\n${body}\r\n0\r\n\r\n`)],
  ['a huge chunk size', ({ auth }) => post(auth + te, `ffffffffffffffffff\r\n${body}\r\n0\r\n\r\n`)],
  ['a chunk too long', ({ auth }) => post(auth + te, `5\r\n${body}\r\n0\r\n\r\n`)],
  ['a long chunk extension', ({ auth }) => post(auth + te, `5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`)],
  [
    'many tiny chunks',
    ({ auth }) => post(auth + te, `${[...body].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`),
  ],
  ['a 17 KB header', ({ auth }) => post(`${auth}x-a: ${'a'.repeat(17_000)}\r\n${length}`, body)],
  ['a 1 MB header', ({ auth }) => post(`${auth}x-a: ${'a'.repeat(1_000_000)}\r\n${length}`, body)],
  ['2,000 headers', ({ auth }) => post(auth + 'a: b\r\n'.repeat(2_000) + length, body)],
  ['10,000 headers', ({ auth }) => post(auth + 'a: b\r\n'.repeat(10_000) + length, body)],
  ['a long path', ({ auth }) => [`GET /${'a'.repeat(15_000)} HTTP/1.1\r\n${auth}\r\n`, '/']],
  ['no host', () => post(length, body)],
  ['two hosts', ({ auth }) => post(`${auth}host: y\r\n${length}`, body)],
  ['unknown expectation', ({ auth }) => post(`${auth}expect: the-unexpected\r\n${length}`, body)],
  ['an old version', ({ auth }) => post(auth + length, body).replace('HTTP/1.1', 'HTTP/1.0')],
  ['an ancient version', () => `GET ${path}\r\n`],
  ['an unknown version', ({ auth }) => post(auth + length, body).replace('HTTP/1.1', 'HTTP/9.9')],
  ['an unknown method', ({ auth }) => post(auth + length, body).replace('POST', 'BREW')],
  ['a small method', ({ auth }) => post(auth + length, body).replace('POST', 'post')],
  ['PROPFIND', ({ auth }) => post(auth + length, body).replace('POST', 'PROPFIND')],
  ['TRACE', ({ auth }) => post(auth, '').replace('POST', 'TRACE')],
  ['CONNECT', ({ auth }) => [`CONNECT evil.example:443 HTTP/1.1\r\n${auth}\r\n`, '/']],
  ['a bad escape', ({ auth }) => [`GET /v1/models/%zz HTTP/1.1\r\n${auth}\r\n`, '/v1/models']],
  ['a NUL in the path', ({ auth }) => [`GET /v1/models/%00 HTTP/1.1\r\n${auth}\r\n`, '/v1/models']],
  ['a cut escape', ({ auth }) => [`GET /v1/models/%e2%82 HTTP/1.1\r\n${auth}\r\n`, '/v1/models']],
  ['an absolute address', ({ auth }) => [`POST http://evil/v1/messages HTTP/1.1\r\n${auth}${length}\r\n${body}`, '/']],
  ['a path of stars', ({ auth }) => [`OPTIONS * HTTP/1.1\r\n${auth}\r\n`, '/']],
  ['two slashes', ({ auth }) => [`POST //v1/messages HTTP/1.1\r\n${auth}${length}\r\n${body}`, '/']],
  ['dots in the path', ({ auth }) => [`POST /v1/x/../messages HTTP/1.1\r\n${auth}${length}\r\n${body}`, '/']],
  ['a capital path', ({ auth }) => [`POST /V1/Messages HTTP/1.1\r\n${auth}${length}\r\n${body}`, '/']],
  [
    'a strange query',
    ({ auth }) => [`GET /v1/models?limit[]=1&limit=2&%zz=%zz&__proto__=1 HTTP/1.1\r\n${auth}\r\n`, '/'],
  ],
  ['a body on GET', ({ auth }) => [`GET /v1/models HTTP/1.1\r\n${auth}${length}\r\n${body}`, '/']],
  ['a cut head', ({ auth }) => `POST ${path} HTTP/1.1\r\n${auth}content-len`],
  ['a cut body', ({ auth }) => post(auth + length, body.slice(0, 20))],
  ['a cut chunk', ({ auth }) => post(auth + te, chunk.slice(0, 20))],
  ['garbage after a request', ({ auth }) => `${post(auth + length, body)}\0\0garbage\r\n\r\n`],
  ['a request behind another', ({ auth }) => post(auth + length, body).repeat(3)],
]
