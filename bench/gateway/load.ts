import { Agent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { ask, type Ask } from './ask.ts'
import type { Shape } from './shapes.ts'
import type { Target } from './targets/target.ts'

/** One request: when it was to begin, when it did, and what came of it. */
export type Sample = {
  readonly intendedMs: number
  readonly begunMs: number
  readonly firstMs: number
  readonly endMs: number
  /** Null for one that was answered. */
  readonly failure: string | null
}

/** Sends requests at their times, whether or not earlier ones have ended. Resolves when all of them have. */
export async function sendOpenLoop(
  target: Target,
  { perSecond, ...shape }: Shape,
  durationMs: number,
): Promise<Sample[]> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 4_096 })
  const { isStream, tokens } = shape
  const askOf = (number: number): Ask => ({ agent, body: bodyOf(target, shape, number), tokens, isStream })
  const startMs = performance.now()
  const underWay: Promise<Sample>[] = []
  const count = Math.floor((durationMs * perSecond) / 1_000)
  try {
    while (underWay.length < count) {
      const intendedMs = startMs + (underWay.length * 1_000) / perSecond
      const waitMs = intendedMs - performance.now()
      if (waitMs > 0) await setTimeout(waitMs)
      else underWay.push(sample(target, askOf(underWay.length), intendedMs))
    }
    return await Promise.all(underWay)
  } finally {
    agent.destroy()
  }
}

async function sample(target: Target, what: Ask, intendedMs: number): Promise<Sample> {
  const begunMs = performance.now()
  try {
    return { intendedMs, begunMs, ...(await ask(target, what)), failure: null }
  } catch (error) {
    const nowMs = performance.now()
    return { intendedMs, begunMs, firstMs: nowMs, endMs: nowMs, failure: String(error) }
  }
}

/** No two prompts of a load begin alike, so that none is made of what another one left. */
function bodyOf(
  { model }: Target,
  { promptBytes, tokens, isStream }: Omit<Shape, 'perSecond'>,
  number: number,
): Buffer {
  const sentence = 'The quick brown fox jumps over the lazy dog. '
  const content = `${number} ${sentence.repeat(Math.ceil(promptBytes / sentence.length))}`.slice(0, promptBytes)
  const messages = [{ role: 'user', content }]
  return Buffer.from(JSON.stringify({ model, messages, max_tokens: tokens, stream: isStream }))
}
