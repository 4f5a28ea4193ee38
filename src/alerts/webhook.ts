import { createHmac, randomBytes } from 'node:crypto'
import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { createGuardedLookup, literalAddressOf } from '../lib/network/public-address.ts'
import { rejectUnanswered } from '../lib/network/reject-unanswered.ts'
import type { Reachable } from './private-addresses.ts'

/** From the connection to the last byte of the answer: a receiver notes what comes and works on it later. */
export const postMsMax = 10_000
/** What an answer says is not read; this much of it is let through so that the connection can be used again. */
const answerBytesMax = 65_536

/** A secret in the form of Standard Webhooks. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

export type WebhookMessage = { readonly id: string; readonly body: string }

/** The headers by which a receiver knows the sender, and a message that it has had before (Standard Webhooks 1.0). */
export function signWebhook(secret: string, { id, body }: WebhookMessage, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** Whom a connection trusts, and what it shows of itself, in PEM; what is left out is as usual. */
export type TlsSettings = { readonly ca?: string; readonly cert?: string; readonly key?: string }

export type Post = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly tls?: TlsSettings
  readonly signal: AbortSignal
}

/** Sends messages to receivers, over connections that it keeps for the next ones. */
export type Poster = {
  /** Resolves with the answer's status; redirects are answers like any other and lead nowhere. */
  post(post: Post): Promise<number>
  close(): void
}

export function createPoster(isReachable: Reachable): Poster {
  const refusal = (name: string) => `${name} is at a private address.`
  const lookup = createGuardedLookup({ isAllowed: isReachable, refusal })
  // Kept connections end before most receivers would end them.
  const options = { keepAlive: true, timeout: 4_000, lookup } as const
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) }
  return {
    async post({ url, headers, body, tls, signal }) {
      const literal = literalAddressOf(url)
      if (literal !== null && !isReachable(literal)) throw new Error(`${literal} is a private address.`)
      const isSecure = url.protocol === 'https:'
      const send = isSecure ? requestHttps : requestHttp
      const agent = isSecure ? agents.https : agents.http
      const length = String(Buffer.byteLength(body))
      return new Promise((resolve, reject) => {
        const head = { ...headers, 'content-type': 'application/json', 'content-length': length }
        const limit = AbortSignal.any([signal, AbortSignal.timeout(postMsMax)])
        const sent = send(url, { method: 'POST', agent, headers: head, signal: limit, ...tls })
        rejectUnanswered(sent, reject)
        sent.once('response', (answer) => {
          let bytes = 0
          answer.on('data', (piece: Buffer) => {
            bytes += piece.length
            if (bytes > answerBytesMax) answer.destroy()
          })
          answer.on('error', () => {})
          answer.once('close', () => {
            const isWhole = answer.complete || bytes > answerBytesMax
            if (isWhole) resolve(answer.statusCode ?? 0)
            else reject(new Error('The connection was closed before the answer was whole.'))
          })
        })
        sent.end(body)
      })
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}
