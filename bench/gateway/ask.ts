import { request, type Agent } from 'node:http'
import { firstWord, nextWord } from './mock/answer-words.ts'
import type { Target } from './targets/target.ts'

/** What of an answer counts; times are by `performance.now()`. */
export type Answer = { readonly firstMs: number; readonly endMs: number }

export type Ask = {
  readonly agent: Agent
  readonly body: Buffer
  readonly tokens: number
  readonly isStream: boolean
}

/** An answer that takes longer will not come. */
const waitMsMax = 30_000

/** Asks once. An answer that is not the mock's, whole, is a failure. */
export function ask({ url, headers }: Target, { agent, body, tokens, isStream }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const entity = { 'content-type': 'application/json', 'content-length': body.length }
    const sent = request(url, { method: 'POST', agent, headers: { ...headers, ...entity }, timeout: waitMsMax })
    sent.once('timeout', () => sent.destroy(new Error(`No answer within ${waitMsMax} ms.`)))
    sent.once('error', reject)
    sent.once('response', (response) => {
      let text = ''
      let firstMs: number | null = null
      response.setEncoding('latin1')
      response.on('data', (piece: string) => {
        text += piece
        if (firstMs === null && text.includes(firstWord)) firstMs = performance.now()
      })
      response.once('error', reject)
      response.once('end', () => {
        const endMs = performance.now()
        const fault = response.statusCode === 200 ? faultOf(text, tokens, isStream) : `status ${response.statusCode}`
        if (fault === null && firstMs !== null) resolve({ firstMs, endMs })
        else reject(new Error(`${fault ?? 'no text'}: ${text.slice(0, 300)}`))
      })
    })
    sent.end(body)
  })
}

function faultOf(text: string, tokens: number, isStream: boolean): string | null {
  const answered = text.split(nextWord).length
  if (answered !== tokens) return `${answered} tokens instead of ${tokens}`
  return isStream && !text.trimEnd().endsWith('data: [DONE]') ? 'no end' : null
}
