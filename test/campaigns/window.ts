// A prompt that fills a whole window goes through, and one token more is refused before it waits for anything.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { ask, formats, paths, type Format } from '../harness/http/ask.ts'
import { checkStream, openFormatStream } from '../harness/http/open-stream.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from './campaign.ts'

const model = 'tycho-1.0'

/** `count` is the window, in tokens. */
export async function runWindow({ count: windowTokens, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const service = await startService({ weights: 'built-in', config: { engine: { windowTokensMax: windowTokens } } })
  try {
    log(`filling a window of ${windowTokens} tokens`)
    const begunMs = performance.now()
    await fill(service, windowTokens, failures)
    const tookMs = Math.round(performance.now() - begunMs)
    for (const format of formats) await overfill(service, windowTokens, { format, failures })
    return failures.toResult({ tokens: windowTokens, 'milliseconds to fill it': tookMs })
  } finally {
    await service.stop()
  }
}

async function count(service: Service, content: string): Promise<number> {
  const body = { model, messages: [{ role: 'user', content }] }
  return (await ask(service, '/v1/messages/count_tokens', { body })).json()['input_tokens'] as number
}

/** A text whose prompt has exactly so many tokens: each digit is one. */
async function textOf(service: Service, tokens: number): Promise<string> {
  return '7'.repeat(tokens - (await count(service, '7')) + 1)
}

function bodyOf(content: string, stream: boolean) {
  return { model, stream, max_tokens: 4, messages: [{ role: 'user', content }] }
}

/** Leaves room for one token, which is all the answer then has. */
async function fill(service: Service, windowTokens: number, failures: Failures): Promise<void> {
  const content = await textOf(service, windowTokens - 1)
  const counted = await count(service, content)
  const stream = await openFormatStream(service, 'messages', bodyOf(content, true))
  const { text, isWhole } = await stream.ended
  const [row] = service.ledger()
  failures.check('a prompt of all but one token', () => {
    deepEqual([counted, stream.status, isWhole], [windowTokens - 1, 200, true])
    checkStream('messages', text)
    ok(row !== undefined)
    equal(row.input_uncached + row.input_cache_read + row.input_cache_write, windowTokens - 1)
    deepEqual([row.outcome, row.output], ['finished', 1])
  })
}

type Overfilling = { readonly format: Format; readonly failures: Failures }

async function overfill(service: Service, windowTokens: number, { format, failures }: Overfilling): Promise<void> {
  const tokens = windowTokens + 1
  const messages: Readonly<Record<Format, string>> = {
    chat: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    messages: `prompt is too long: ${tokens} tokens > ${windowTokens - 1} maximum`,
  }
  const answer = await ask(service, paths[format], { body: bodyOf(await textOf(service, tokens), false) })
  failures.check(`one token too many, ${format}`, () => {
    equal(answer.status, 400)
    equal((answer.json()['error'] as { readonly message: string }).message, messages[format])
  })
}
