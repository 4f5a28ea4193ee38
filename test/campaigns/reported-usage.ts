import { deepEqual, ok } from 'node:assert/strict'
import { isStream } from './answers.ts'
import type { RawResponse } from './response-reader.ts'
import { readFrames } from './sse-frames.ts'

/** What an answer says it cost, in no format's words. */
export type ReportedUsage = {
  readonly uncached: number
  readonly written: number
  readonly read: number
  readonly output: number
}

type ChatUsage = {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }
}
type MessagesUsage = {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
}

/** Throws where an answer says nothing, or a stream begins with other counts of its prompt than it ends with. */
export function readUsage(response: RawResponse, shape: 'chat' | 'messages'): ReportedUsage {
  const bodies = isStream(response) ? framesOf(response.text) : [JSON.parse(response.text) as Body]
  if (shape === 'chat') {
    const usage = bodies.findLast((body) => body.usage)?.usage
    ok(usage, 'the usage is reported')
    return fromChat(usage as ChatUsage)
  }
  const found = bodies
    .flatMap(({ usage, message }) => usage ?? message?.usage ?? [])
    .map((usage) => fromMessages(usage as MessagesUsage))
  const [first, last] = [found[0], found.at(-1)]
  ok(first !== undefined && last !== undefined, 'the usage is reported')
  deepEqual({ ...first, output: last.output }, last, 'a stream counts its prompt once')
  return last
}

type Body = { readonly usage?: unknown; readonly message?: { readonly usage?: unknown } }

function framesOf(text: string): Body[] {
  return readFrames(text).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as Body]))
}

function fromChat({
  prompt_tokens: input,
  completion_tokens: output,
  prompt_tokens_details: details,
}: ChatUsage): ReportedUsage {
  const { cached_tokens: read, cache_write_tokens: written } = details
  return { uncached: input - read - written, written, read, output }
}

function fromMessages(usage: MessagesUsage): ReportedUsage {
  return {
    uncached: usage.input_tokens,
    written: usage.cache_creation_input_tokens,
    read: usage.cache_read_input_tokens,
    output: usage.output_tokens,
  }
}
