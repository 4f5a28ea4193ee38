import type { Example, Skill, Split } from '../example.ts'
import { drawFor, phrase } from '../phrase.ts'
import type { Random } from '../random.ts'
import { plurals } from '../words/nouns.ts'
import { firstNames } from '../words/people.ts'
import * as questions from './arithmetic-questions.ts'
import { type Calculation, equation, result, working } from './arithmetic-working.ts'
import { capitalized } from './list-phrase.ts'
import { declaredTools } from './tool-prompt.ts'

const small =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  )

/**
 * Sums and differences of numbers up to 999.
 * The working is the thinking; without thinking it belongs in front of the answer, where the composer puts it.
 */
export const arithmetic: Skill = {
  name: 'arithmetic',
  weight: 14,
  goal: 0.9,
  make(random, split) {
    return random.chance(0.1) ? followUp(random, split) : single(random, split)
  },
}

function single(random: Random, split: Split): Example {
  const calculation = draw(random, split, () => calculationOf(random, digits(random)))
  // Tools at hand must not keep the model from calculating.
  const tools = random.chance(0.06) ? { tools: declaredTools(random, split, random.integer(1, 2)) } : {}
  return { ...tools, ...answered([{ role: 'user', content: question(random, split, calculation) }], calculation) }
}

function followUp(random: Random, split: Split): Example {
  const first = draw(random, split, () => calculationOf(random, random.integer(1, 2)))
  const begun = [
    { role: 'user', content: question(random, split, first) },
    { role: 'assistant', content: equation(first) },
  ] as const
  const continues = result(first) >= 0 && random.chance(0.6)
  const next = draw(random, split, () => {
    const drawn = calculationOf(random, random.integer(1, 2))
    return continues ? { ...drawn, left: result(first), right: random.integer(1, 99) } : drawn
  })
  const templates = {
    '+': continues ? questions.continuedSums : questions.nextSums,
    '-': continues ? questions.continuedDifferences : questions.nextDifferences,
  }[next.operation]
  const content = capitalized(random, phrase(random, split, templates, { a: `${next.left}`, b: `${next.right}` }))
  return answered([...begun, { role: 'user', content }], next)
}

function answered(asked: Example['turns'], calculation: Calculation): Example {
  return {
    turns: [...asked, { role: 'assistant', thinking: working(calculation), content: equation(calculation) }],
    judge: { kind: 'number', value: result(calculation) },
  }
}

function draw(random: Random, split: Split, drawn: () => Calculation): Calculation {
  const mark = ({ left, operation, right }: Calculation) => `${left} ${operation} ${right}`
  return drawFor(split, drawn, mark)
}

function digits(random: Random): number {
  return random.weighted([
    [1, 15],
    [2, 35],
    [3, 50],
  ])
}

function calculationOf(random: Random, length: number): Calculation {
  const shorter = random.chance(0.3) ? random.integer(1, length) : length
  let [left, right] = [numberOf(random, length), numberOf(random, shorter)]
  const operation = random.chance(0.5) ? '+' : '-'
  // Most people subtract the smaller number; with a sum either may come first.
  const swap = operation === '-' ? left < right !== random.chance(0.12) : random.chance(0.5)
  if (swap) [left, right] = [right, left]
  return { left, operation, right }
}

function numberOf(random: Random, length: number): number {
  if (length === 1) return random.integer(0, 9)
  const number = random.integer(10 ** (length - 1), 10 ** length - 1)
  // Zeros are what borrowing stumbles over.
  return random.chance(0.1) ? number - (number % 10) : number
}

function question(random: Random, split: Split, calculation: Calculation): string {
  const { left, operation, right } = calculation
  const inWords = left <= 20 && right <= 20 && random.chance(0.2)
  const spoken = (value: number) => (inWords ? (small[value] ?? '') : `${value}`)
  const [name = '', other = ''] = random.sample(firstNames, 2)
  const slots = { a: spoken(left), b: spoken(right), things: random.pick(plurals), name, other }
  const text = phrase(random, split, templatesFor(random, operation, left, right), slots)
  return capitalized(random, inWords ? text.replace(/(?<=\w)(?=[+-])|(?<=[+-])(?=\w)/g, ' ') : text)
}

function templatesFor(random: Random, operation: Calculation['operation'], left: number, right: number) {
  const stories = left > 1 && right > 1 && (operation === '+' || left > right) && random.chance(0.3)
  if (operation === '+') return stories ? questions.sumStories : questions.sums
  if (stories) return questions.differenceStories
  if (left >= right && random.chance(0.25)) return questions.positiveDifferences
  return questions.differences
}
