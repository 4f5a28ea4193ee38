import type { Shape } from './bodies/error-bodies.ts'
import type { Random } from './random.ts'

export const models = ['hal-1.0', 'clarke-1.0', 'tycho-1.0'] as const

/** A request that is valid and is answered. */
export type PlainRequest = {
  readonly shape: Exclude<Shape, 'shared'>
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly promptWords: number
}

export type PlainRequestOptions = {
  readonly promptWordsMax: number
  readonly outputTokensMax: number
  /**
   * Every answer to the request is the same, since the most likely token is always taken. A seed would not do: beside
   * other answers the sums come out a little different, and where chance decides, that can tip a choice.
   */
  readonly isRepeatable: boolean
}

const words = ['please', 'the', 'operator', 'installs', 'weights', 'für', 'Größe', '日本', '🙂', 'x = 1;', '"quoted"']

/** Words of several scripts, so that characters and tokens do not fall together. */
export function randomText(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(words)).join(' ')
}

export function plainRequest(random: Random, options: PlainRequestOptions): PlainRequest {
  const promptWords = random.integer(1, options.promptWordsMax)
  const messages = conversation(random, promptWords)
  const model = random.pick(models)
  const outputTokensMax = random.integer(1, options.outputTokensMax)
  if (random.chance(0.5)) {
    const body = { model, messages, ...chatSettings(random, options, outputTokensMax) }
    return { shape: 'chat', path: '/v1/chat/completions', body, promptWords }
  }
  const body = { model, messages, ...messagesSettings(random, options, outputTokensMax) }
  return { shape: 'messages', path: '/v1/messages', body, promptWords }
}

/** The same request, streamed or not; a chat stream reports its usage, so that it can be compared. */
export function withStream({ body, ...rest }: PlainRequest, isStream: boolean): PlainRequest {
  if (!isStream) return { ...rest, body }
  const usage = rest.shape === 'chat' ? { stream_options: { include_usage: true } } : {}
  return { ...rest, body: { ...body, stream: true, ...usage } }
}

function conversation(random: Random, promptWords: number) {
  const last = { role: 'user', content: randomText(random, promptWords) }
  if (random.chance(0.6)) return [last]
  return [{ role: 'user', content: randomText(random, 5) }, { role: 'assistant', content: randomText(random, 5) }, last]
}

function chatSettings(random: Random, { isRepeatable }: PlainRequestOptions, outputTokensMax: number) {
  return {
    ...(isRepeatable && { temperature: 0 }),
    ...(random.chance(0.5) && { max_completion_tokens: outputTokensMax }),
    ...(random.chance(0.5) && { reasoning_effort: random.pick(['none', 'low', 'medium', 'high']) }),
  }
}

function messagesSettings(random: Random, { isRepeatable }: PlainRequestOptions, outputTokensMax: number) {
  return {
    max_tokens: outputTokensMax,
    // This format has no seed.
    ...(isRepeatable && { temperature: 0 }),
    ...(random.chance(0.5) && { thinking: { type: random.pick(['adaptive', 'disabled']) } }),
  }
}
