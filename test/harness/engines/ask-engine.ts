import { runAlone, type Engine } from '../../../src/core/engine.ts'
import { Readable } from 'node:stream'
import { checkStream } from '../../../src/core/check-stream.ts'
import { collect, type Generation } from '../../../src/core/collect.ts'
import { inputTokens, type CacheReport, type EngineRequest } from '../../../src/core/generation.ts'
import { engineRequest, withSeed } from '../requests.ts'

export type EngineAnswer = Generation & {
  readonly cache: CacheReport
  /** The whole prompt, cached or not. */
  readonly input: number
  readonly text: string
}

const never = new AbortController().signal

/** One answer, short and always the most likely one, with what the engine says of its prompt. */
export async function askEngine(engine: Engine, changes: Partial<EngineRequest> = {}): Promise<EngineAnswer> {
  const request = engineRequest({ sampling: withSeed(1, 0), outputTokensMax: 24, ...changes })
  const events = await Array.fromAsync(checkStream(runAlone(engine, request, never)))
  const answer = await collect(Readable.from(events))
  const [start] = events
  if (start?.type !== 'start' || start.cache === undefined) throw new Error('The engine says nothing of its cache.')
  const text = answer.blocks.map((block) => block.text).join('')
  return { ...answer, cache: start.cache, input: inputTokens(answer.usage), text }
}

export function user(...texts: readonly string[]): EngineRequest['messages'][number] {
  return { role: 'user', content: texts.map((text) => ({ kind: 'text', text })) }
}

export function owner(organizationId: string): Pick<EngineRequest, 'owner'> {
  return { owner: { organizationId, apiKeyId: 'key_test' } }
}

/** A text that begins like no other with another number. */
export function longText(number: number, words = 200): string {
  return `${number} is the number.${' Some words to read on.'.repeat(words / 5)}`
}

export function longPrompt(number: number, words?: number): Pick<EngineRequest, 'messages'> {
  return { messages: [user(longText(number, words))] }
}
