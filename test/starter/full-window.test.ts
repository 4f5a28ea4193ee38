// A prompt that fills a whole window goes through, and one token more is refused before it waits for anything.

import { equal, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, formats, paths, type Format } from '../harness/ask.ts'
import { checkStream, openFormatStream } from '../harness/open-stream.ts'
import { startService, type Service } from '../harness/start-service.ts'

const model = 'tycho-1.0'
const windowTokens = 125_000

let service: Service

before(async () => {
  service = await startService({ weights: 'built-in' })
})
after(() => service.stop())

async function count(content: string): Promise<number> {
  const body = { model, messages: [{ role: 'user', content }] }
  return (await ask(service, '/v1/messages/count_tokens', { body })).json()['input_tokens'] as number
}

/** A text whose prompt has exactly so many tokens: each digit is one. */
async function textOf(tokens: number): Promise<string> {
  return '7'.repeat(tokens - (await count('7')) + 1)
}

function bodyOf(content: string, stream: boolean) {
  return { model, stream, max_tokens: 4, messages: [{ role: 'user', content }] }
}

test('a prompt that leaves room for one token is answered, with signs of life meanwhile', async () => {
  const content = await textOf(windowTokens - 1)
  equal(await count(content), windowTokens - 1)
  const stream = await openFormatStream(service, 'messages', bodyOf(content, true))
  equal(stream.status, 200)
  const { text, isWhole } = await stream.ended
  equal(isWhole, true)
  checkStream('messages', text)
  ok(text.includes('event: ping') || text.includes(': keep-alive'))
  const [row] = service.ledger()
  equal(row?.outcome, 'finished')
  equal((row?.input_uncached ?? 0) + (row?.input_cache_read ?? 0) + (row?.input_cache_write ?? 0), windowTokens - 1)
  equal(row?.output, 1)
})

const refusals: Readonly<Record<Format, string>> = {
  chat: `This model's maximum context length is ${windowTokens} tokens. However, your messages resulted in ${windowTokens + 1} tokens. Please reduce the length of the messages.`,
  messages: `prompt is too long: ${windowTokens + 1} tokens > ${windowTokens} maximum`,
}

for (const format of formats) {
  test(`a prompt of one token more than the window is refused with both numbers: ${format}`, async () => {
    const answer = await ask(service, paths[format], { body: bodyOf(await textOf(windowTokens + 1), false) })
    equal(answer.status, 400)
    equal((answer.json()['error'] as { readonly message: string }).message, refusals[format])
  })
}
