// What is measured. All contestants get the same texts, and no text comes twice.

import type { Answer, Ask, Contestant } from './contestant.ts'
import type { WriteText } from './texts.ts'

export type Row = { readonly name: string; readonly unit: string; readonly better: 'higher' | 'lower' | null }

export type Measure = {
  readonly rows: readonly Row[]
  /** One value for each row, null where the contestant has none. `label` names the round. */
  read(contestant: Contestant, write: WriteText, label: string): Promise<readonly (number | null)[]>
}

/** Long enough for a text to begin, short enough not to count. */
const shortAnswer = 4

/** How fast streams that were begun together go on while all of them do, and how fast their answers are there as a whole. */
export function decodeSpeed(streams: number, tokens: number): Measure {
  const rate = { unit: 'tokens/s', better: 'higher' } as const
  const several = streams === 1 ? '1 stream' : `${streams} streams`
  return {
    rows: [
      { ...rate, name: `Decode, ${several}` },
      { ...rate, name: `${several}, prompts included` },
    ],
    async read(contestant, write, label) {
      const asks = Array.from({ length: streams }, (_, stream) => {
        const own = `${stream + 1} of ${streams}, ${label}`
        return { system: write(own, 20), question: write('Go on', 40), tokens }
      })
      const answers = await Promise.all(asks.map((ask) => askFor(contestant, ask)))
      const startMs = Math.min(...answers.map((answer) => answer.startMs))
      const endMs = Math.max(...answers.map((answer) => answer.endMs))
      const made = answers.reduce((sum, { outputTokens }) => sum + outputTokens, 0)
      return [togetherSpeed(answers), (1_000 * made) / (endMs - startMs)]
    },
  }
}

/**
 * What all streams make together from the first text of the last of them to the end of the first; null where the one comes
 * before the other. Some servers compute all prompts before any answer and others begin with one, so that the
 * time before says something of prompts.
 */
function togetherSpeed(answers: readonly Answer[]): number | null {
  const fromMs = Math.max(...answers.map(({ firstMs }) => firstMs))
  const untilMs = Math.min(...answers.map(({ endMs }) => endMs))
  if (untilMs <= fromMs) return null
  const made = answers.map(({ outputTokens, textsMs }) => {
    const within = textsMs.filter((atMs) => atMs > fromMs && atMs <= untilMs).length
    return (outputTokens * within) / textsMs.length
  })
  return (1_000 * made.reduce((sum, count) => sum + count, 0)) / (untilMs - fromMs)
}

export function promptSpeed(promptTokens: number): Measure {
  return {
    rows: [{ name: `Prompt of ${count(promptTokens)} tokens`, unit: 'tokens/s', better: 'higher' }],
    async read(contestant, write, label) {
      const ask = { system: write(`Prompt, ${label}`, promptTokens), question: write('Go on', 40), tokens: shortAnswer }
      const answer = await askFor(contestant, ask)
      return [(1_000 * answer.promptTokens) / firstTextMs(answer)]
    },
  }
}

/** The time to the first text of a prompt that is new, of another that begins like it, and of a third after a restart. */
export function prefixTimes(prefixTokens: number, withRestart: boolean): Measure {
  const name = `First text, ${count(prefixTokens)} tokens`
  const time = { unit: 'ms', better: 'lower' } as const
  const share = { unit: '%', better: null } as const
  const restartRows: Row[] = [
    { ...time, name: `${name}, after a restart` },
    { ...share, name: 'of the prompt, after a restart from the cache' },
  ]
  return {
    rows: [
      { ...time, name: `${name}, new` },
      { ...time, name: `${name}, cached` },
      { name: 'times faster when cached', unit: '×', better: 'higher' },
      { ...share, name: 'of the prompt, from the cache' },
      ...(withRestart ? restartRows : []),
    ],
    async read(contestant, write, label) {
      const system = write(`Prefix of ${prefixTokens}, ${label}`, prefixTokens)
      const ask = (topic: string) => askFor(contestant, { system, question: write(topic, 40), tokens: shortAnswer })
      const cold = firstTextMs(await ask('First'))
      const cached = await ask('Second')
      const values = [cold, firstTextMs(cached), cold / firstTextMs(cached), cachedPercent(cached)]
      if (!withRestart) return values
      if (contestant.restart === null) return [...values, null, null]
      await contestant.restart()
      // The first request after a start is slow in itself: weights come from the disk, code is compiled.
      const other = { system: write(`Other, ${label}`, 20), question: write('Go on', 40), tokens: shortAnswer }
      await askFor(contestant, other)
      const restarted = await ask('Third')
      return [...values, firstTextMs(restarted), cachedPercent(restarted)]
    },
  }
}

function count(tokens: number): string {
  return tokens.toLocaleString('en')
}

export function cachedPercent({ cachedTokens, promptTokens }: Answer): number {
  return (100 * cachedTokens) / promptTokens
}

export function firstTextMs({ startMs, firstMs }: Answer): number {
  return firstMs - startMs
}

/** An answer of another length would be another measurement. */
async function askFor(contestant: Contestant, ask: Ask): Promise<Answer> {
  const answer = await contestant.ask(ask)
  if (answer.outputTokens === ask.tokens) return answer
  throw new Error(`${contestant.name} answered with ${answer.outputTokens} tokens instead of ${ask.tokens}.`)
}
