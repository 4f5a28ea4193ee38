import type { Contestant } from './contestant.ts'

const words =
  'about after bridge bright carry circle distant early every field garden half island journey kitchen letter'
    .concat(' morning never orange people quiet river silver through under village water winter yellow young')
    .split(' ')

/** Writes a text of about the given number of tokens that begins with a label. Another label gives another text from the start on. */
export type WriteText = (label: string, tokens: number) => string

/**
 * Finds out how many tokens a word has, by asking with fewer and with more of them. All
 * are asked, which also has each of them read its weights from the disk.
 */
export async function measureTexts(contestants: readonly Contestant[]): Promise<WriteText> {
  const [few, many] = [10, 60]
  const counts: [few: number, many: number][] = []
  for (const contestant of contestants) {
    counts.push([await countTokens(contestant, few), await countTokens(contestant, many)])
  }
  const [fewTokens, manyTokens] = counts[0] ?? [0, 0]
  if (counts.some((count) => count[0] !== fewTokens || count[1] !== manyTokens))
    throw new Error(`The same prompts have different lengths: ${JSON.stringify(counts)}.`)
  const tokensPerWord = Math.max(1, (manyTokens - fewTokens) / (many - few))
  return (label, tokens) => writeWords(`${label}.`, tokens / tokensPerWord)
}

async function countTokens(contestant: Contestant, words: number): Promise<number> {
  const answer = await contestant.ask({ system: 'Go on.', question: writeWords('Count.', words), tokens: 4 })
  return answer.promptTokens
}

function writeWords(label: string, count: number): string {
  const text = [label]
  let state = [...label].reduce((sum, character) => mix(sum + (character.codePointAt(0) ?? 0)), 1)
  for (let index = 1; index < count; index++) {
    state = mix(state)
    // The upper bits are the better ones.
    text.push(words[Math.floor((state / 2 ** 32) * words.length)]!)
  }
  return text.join(' ')
}

/** A step of a linear congruential generator, with the constants of Numerical Recipes. */
function mix(state: number): number {
  return (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
}
