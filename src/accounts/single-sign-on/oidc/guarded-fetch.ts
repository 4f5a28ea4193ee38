// Asks servers whose addresses somebody has typed in, or that another server has named: none of them may be one of this
// house unless the operator says so, however its name is resolved, and none can keep us waiting or fill the memory.

import type { lookup } from 'node:dns'
import { request as requestPlain, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { AddressList } from '../../../lib/network/address-list.ts'
import { createGuardedLookup, isPublicAddress, literalAddressOf } from '../../../lib/network/public-address.ts'
import { rejectUnanswered } from '../../../lib/network/reject-unanswered.ts'

export type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>

type FetchInit = {
  readonly method?: string
  readonly headers?: Headers | Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

export type GuardedFetchOptions = {
  /** Where a provider may be although it is not on the open internet; plain HTTP is spoken there alone. */
  readonly privateAddresses: AddressList
  readonly timeoutMs?: number
  /** Stands in for the system's own way of finding the addresses of a name. */
  readonly findAddresses?: typeof lookup
}

/** Discovery documents and key sets are a few KiB. */
const bytesMax = 262_144

/** Like `fetch`, without redirects: a response that is one is handed back as it is. */
export function createGuardedFetch({
  privateAddresses,
  timeoutMs = 5_000,
  findAddresses,
}: GuardedFetchOptions): GuardedFetch {
  return async (url, { method = 'GET', headers, body, signal }) => {
    const target = new URL(url)
    const isSecure = target.protocol === 'https:'
    if (!isSecure && target.protocol !== 'http:') throw new Error('Only addresses with HTTPS are asked.')
    const isAllowed = (address: string) => privateAddresses.includes(address) || (isSecure && isPublicAddress(address))
    const literal = literalAddressOf(target)
    if (literal !== null && !isAllowed(literal)) throw new Error(notAllowed)
    const deadline = AbortSignal.timeout(timeoutMs)
    const content = toBytes(body)
    const options: RequestOptions = {
      method,
      headers: { ...Object.fromEntries(new Headers(headers)), ...(content && { 'content-length': content.length }) },
      lookup: createGuardedLookup({ isAllowed, refusal: () => notAllowed, ...(findAddresses && { findAddresses }) }),
      agent: false,
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      maxHeaderSize: 16_384,
    }
    const message = await send(isSecure ? requestSecure : requestPlain, { target, options, content })
    const bytes = await readBounded(message)
    const { statusCode = 0 } = message
    const isEmpty = statusCode === 204 || statusCode === 205 || statusCode === 304
    return new Response(isEmpty ? null : new Uint8Array(bytes), {
      status: statusCode,
      headers: toHeaders(message.headers),
    })
  }
}

const notAllowed = 'The address is not one of the open internet, nor one of sso.privateAddresses.'

type Sending = {
  readonly target: URL
  readonly options: RequestOptions
  readonly content: Buffer | undefined
}

function send(request: typeof requestPlain, { target, options, content }: Sending): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(target, options, resolve)
    rejectUnanswered(sent, reject)
    sent.end(content)
  })
}

async function readBounded(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > bytesMax) {
      message.destroy()
      throw new Error(`The answer has more than ${bytesMax} bytes.`)
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function toBytes(body: unknown): Buffer | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body === 'string' || body instanceof URLSearchParams) return Buffer.from(body.toString())
  if (body instanceof Uint8Array) return Buffer.from(body)
  throw new Error('A body of this kind is not sent.')
}

function toHeaders(headers: IncomingHttpHeaders): Headers {
  const read = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value ?? []].flat()) read.append(name, one)
  }
  return read
}
