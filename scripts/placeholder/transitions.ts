// Counts which token follows which in the training text and turns the counts into logits. The result is a chain that
// always comes to an end, also when the most likely token is taken every time.

import type { Tokenizer } from './tokenizer.ts'
import { answers, thoughts } from './training-text.ts'

/** Tokens with the same state have the same followers: a word is one state with or without the space before it. */
interface Transitions {
  /** The state of a token, or undefined for one the training text never uses. */
  stateOf: (token: number) => string | undefined
  /** The logit of each token that may follow a state. What is absent counts as zero, which is as good as never. */
  followers: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** What any state may fall back on when its own followers are ruled out, as they are in structured output. */
  fallback: ReadonlyMap<number, number>
  /** The tokens that open a thought or an answer. */
  openers: ReadonlySet<number>
}

/** The state shared by all tokens the training text never uses. */
export const UNSEEN = 'unseen'

const LIKELY = 22
const FALLBACK = 10
// The favourite follower leads the others by this much, so what little the context adds does not unseat it.
const LEAD = 0.5
// The lines of the training text are short, so another sentence follows more often than it does there.
const LONGER = 3

type Counts = Map<string, Map<number, number>>

export const countTransitions = (tokenizer: Tokenizer): Transitions => {
  const { idOf, encodeWords } = tokenizer
  const end = idOf('<|im_end|>')
  const names = new Map<number, string>()
  const counts: Counts = new Map()
  const openers = new Set<number>()

  const add = (token: number, follower: number, count = 1): void => {
    const text = tokenizer.tokens[token]!
    const state = text.length > 1 && text.startsWith('Ġ') ? text.slice(1) : text
    names.set(token, state)
    const row = counts.get(state) ?? new Map<number, number>()
    counts.set(state, row.set(follower, (row.get(follower) ?? 0) + count))
  }
  const addText = (before: string, text: string, after: string): Set<string> => {
    const chain = [idOf(before), ...encodeWords(text), idOf(after)]
    openers.add(chain[1]!)
    for (let index = 0; index + 1 < chain.length; index++) add(chain[index]!, chain[index + 1]!)
    return new Set(chain.slice(1, -1).map((token) => names.get(token)!))
  }

  const thoughtStates = thoughts.map((text) => addText('\n', `${text}...\n`, '</think>'))
  const answerStates = answers.map((text) => addText('\n\n', text, '<|im_end|>'))
  requireDisjoint(thoughtStates, answerStates)

  add(idOf('<think>'), idOf('\n'))
  add(idOf('</think>'), idOf('\n\n'))
  add(idOf('<tool_call>'), idOf('\n'))
  add(idOf('</tool_call>'), end)
  add(idOf('<|im_start|>'), idOf('assistant'))
  add(idOf('assistant'), idOf('\n'))
  add(idOf('{'), idOf('"'))
  // A quotation mark opens an answer. Where it closes a string the rules of the format leave only the fallback.
  for (const [opener, count] of counts.get(idText(tokenizer, '\n\n'))!) add(idOf('"'), opener, count)
  // After anything else a fresh sentence begins, as it does after a full stop.
  const remark = idOf(' (')
  const sentences = [...counts.get('.')!].filter(([follower]) => follower !== end && follower !== remark)
  counts.set(UNSEEN, new Map(sentences))
  for (const [opener, count] of sentences) counts.get('.')!.set(opener, count * LONGER)

  const favourites = findFavourites(counts, names, end)
  const openings = new Set([idText(tokenizer, '\n'), idText(tokenizer, '\n\n')])
  const closing = idText(tokenizer, '.)')
  const followers = new Map(
    [...counts].map(([state, row]) => [state, toLogits(row, openings.has(state) ? undefined : favourites.get(state))]),
  )
  // The closing remark also closes a string wherever the end of the turn is ruled out.
  followers.set(closing, new Map([...followers.get(closing)!, [idOf('"'), LIKELY - 8]]))
  return { stateOf: (token) => names.get(token), followers, fallback: fallback(idOf), openers }
}

const idText = ({ tokens, idOf }: Tokenizer, text: string): string => tokens[idOf(text)]!

// A shared word would let a thought slip into an answer and end the turn while the thinking is still open.
const requireDisjoint = (thoughtStates: readonly Set<string>[], answerStates: readonly Set<string>[]): void => {
  const inAnswers = new Set(answerStates.flatMap((states) => [...states]))
  const shared = new Set(thoughtStates.flatMap((states) => [...states].filter((state) => inAnswers.has(state))))
  if (shared.size > 0) throw new Error(`thoughts and answers share ${[...shared].join(', ')}`)
}

const totalOf = (row: ReadonlyMap<number, number>): number => [...row.values()].reduce((sum, count) => sum + count, 0)

// The favourite of a state is its first step on the most probable way to the end. Favourites therefore form a tree
// that leads to the end, and a chain that always follows them cannot run in a circle.
const findFavourites = (counts: Counts, names: ReadonlyMap<number, string>, end: number): Map<string, number> => {
  const steps = [...counts].flatMap(([state, row]) => {
    const total = totalOf(row)
    return [...row].map(([follower, count]) => ({ state, follower, cost: -Math.log(count / total) }))
  })
  const costs = new Map<string, number>()
  const favourites = new Map<string, number>()
  for (let changed = true; changed;) {
    changed = false
    for (const { state, follower, cost } of steps) {
      const rest = follower === end ? 0 : (costs.get(names.get(follower)!) ?? Infinity)
      if (cost + rest >= (costs.get(state) ?? Infinity)) continue
      costs.set(state, cost + rest)
      favourites.set(state, follower)
      changed = true
    }
  }
  return favourites
}

const toLogits = (row: ReadonlyMap<number, number>, favourite: number | undefined): Map<number, number> => {
  const total = totalOf(row)
  const logits = new Map([...row].map(([follower, count]) => [follower, LIKELY + Math.log(count / total)]))
  if (favourite === undefined) return logits
  const rivals = [...logits].filter(([follower]) => follower !== favourite).map(([, logit]) => logit)
  return logits.set(favourite, Math.max(logits.get(favourite)!, ...rivals.map((logit) => logit + LEAD)))
}

// What closes a structure outweighs what extends it, so structured output stays short.
const fallback = (idOf: Tokenizer['idOf']): Map<number, number> => {
  const weigh = (texts: readonly string[], logit: number): [number, number][] =>
    texts.map((text) => [idOf(text), logit])
  return new Map([
    ...weigh(['"'], FALLBACK + 1),
    ...weigh(['}', ']', '</tool_call>', '<|im_end|>'], FALLBACK),
    ...weigh([...' {[:,'], FALLBACK - 1),
    ...weigh([...'0123456789'], FALLBACK - 5),
  ])
}
