import type { Skill, Split } from '../example.ts'
import { phrase, vary } from '../phrase.ts'
import type { Random } from '../random.ts'
import { cities } from '../words/cities.ts'
import { companies } from '../words/companies.ts'
import {
  badWords,
  crossWords,
  gladWords,
  goodWords,
  kindWords,
  plainWords,
  rudeWords,
  things,
} from '../words/feelings.ts'
import { weekdays } from '../words/moments.ts'
import { firstNames } from '../words/people.ts'
import { productNames } from '../words/products.ts'
import { intents } from './classify-intents.ts'
import { intentPrompts, sentimentPrompts } from './classify-prompts.ts'
import { sentimentTexts } from './classify-sentiment.ts'

const greetings = [
  '',
  '',
  '',
  '[Hi|Hello|Hey|Good morning|Dear team|Hi there], ',
  '[Excuse me|Sorry|Quick question|One thing|Please help]: ',
]

/** Positive, negative and, where there is one, neutral. */
const labelSets: readonly (readonly [readonly string[], number])[] = [
  [['positive', 'negative', 'neutral'], 6],
  [['positive', 'negative'], 4],
  [['good', 'bad'], 1.5],
  [['happy', 'unhappy'], 1.5],
  [['thumbs up', 'thumbs down'], 1],
  [['good', 'bad', 'neutral'], 0.7],
  [['pos', 'neg', 'neu'], 0.6],
  [['satisfied', 'dissatisfied'], 0.7],
  [['like', 'dislike'], 0.5],
]

export const classify: Skill = {
  name: 'classify',
  weight: 8,
  goal: 0.95,
  make: (random, split) => (random.chance(0.55) ? sentiment(random, split) : intent(random, split)),
}

function sentiment(random: Random, split: Split) {
  const labels = dress(random, random.weighted(labelSets))
  const index = random.integer(0, labels.length - 1)
  const texts = [sentimentTexts.positive, sentimentTexts.negative, sentimentTexts.neutral][index] ?? []
  const text = phrase(random, split, texts, words(random))
  return example(
    random,
    split,
    sentimentPrompts,
    text,
    labels,
    labels[index] ?? '',
    'The feeling of the text is asked for.',
  )
}

function intent(random: Random, split: Split) {
  const names = Object.keys(intents)
  const name = random.pick(names)
  const chosen = intents[name]
  if (chosen === undefined) throw new Error(`There is no intent ${name}.`)
  // Labels that could both be right do not stand together.
  const far = names.filter(
    (other) => other !== name && !chosen.near?.includes(other) && !intents[other]?.near?.includes(name),
  )
  const others = random.sample(far, random.integer(1, 4)).map((other) => random.pick(intents[other]?.labels ?? []))
  const labels = dress(random, [random.pick(chosen.labels), ...others])
  const said = phrase(random, split, chosen.texts, words(random))
  const text = vary(random, greetings) + said
  return example(
    random,
    split,
    intentPrompts,
    text.charAt(0).toUpperCase() + text.slice(1),
    labels,
    labels[0] ?? '',
    'What the message is about is asked for.',
  )
}

function example(
  random: Random,
  split: Split,
  prompts: readonly string[],
  text: string,
  labels: readonly string[],
  answer: string,
  thinking: string,
) {
  const shuffled = random.shuffle(labels)
  const bullets = shuffled.map((label) => `\n- ${label}`).join('')
  const quoted = random.weighted([
    [text, 3],
    [`"${text}"`, 1.5],
    [`'${text}'`, 0.2],
  ])
  return {
    turns: [
      {
        role: 'user',
        content: phrase(random, split, prompts, { text: quoted, labels: listing(random, shuffled), bullets }),
      },
      { role: 'assistant', content: answer, thinking },
    ],
    judge: { kind: 'exact', text: answer },
  } as const
}

/** The same way of writing for all labels: the answer has to copy it. */
function dress(random: Random, labels: readonly string[]): string[] {
  const way = random.weighted<(label: string) => string>([
    [(label) => label, 6],
    [(label) => label.charAt(0).toUpperCase() + label.slice(1), 2],
    [(label) => label.replaceAll(' ', '_'), 2],
    [(label) => label.toUpperCase().replaceAll(' ', '_'), 1],
    [(label) => label.replaceAll(' ', '-'), 0.5],
  ])
  return labels.map(way)
}

function listing(random: Random, labels: readonly string[]): string {
  const last = labels.at(-1) ?? ''
  const first = labels.slice(0, -1)
  return random.weighted([
    [`${first.join(', ')} or ${last}`, 5],
    [labels.join(', '), 3],
    [`${first.map((label) => `"${label}"`).join(', ')} or "${last}"`, 1.5],
    [labels.join(' / '), 1],
    [labels.join(' or '), 1],
    [labels.map((label) => `"${label}"`).join(', '), 1],
  ])
}

function words(random: Random): Record<string, string> {
  const [thing = '', thing2 = ''] = random.sample(things, 2)
  const [good = '', good2 = ''] = random.sample(goodWords, 2)
  const [bad = '', bad2 = ''] = random.sample(badWords, 2)
  return {
    thing,
    thing2,
    good,
    good2,
    bad,
    bad2,
    plain: random.pick(plainWords),
    kind: random.pick(kindWords),
    rude: random.pick(rudeWords),
    glad: random.pick(gladWords),
    cross: random.pick(crossWords),
    company: random.pick(companies),
    person: random.pick(firstNames),
    city: random.pick(cities),
    product: random.pick(productNames),
    weekday: random.pick(weekdays),
    order: String(random.integer(1_000, 99_999)),
  }
}
