import { type Example, inSeries, type Skill, type Split } from '../example.ts'
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
import { topics } from './classify-topics.ts'

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

/** A label, what is said under it, and what its texts mean. */
type Option = { readonly label: string; readonly texts: readonly string[]; readonly means: string }

/** Labels to choose from, for any number of texts. */
type Choice = { readonly options: readonly Option[]; readonly prompts: readonly string[]; readonly greets: boolean }

export const classify: Skill = {
  name: 'classify',
  weight: 8,
  goal: 0.95,
  make: (random, split) => asked(random, split, drawChoice(random)),
  drill(random) {
    // The same labels for several texts: what changes the answer is the text alone.
    const choice = drawChoice(random)
    return inSeries(Array.from({ length: random.integer(3, 6) }, () => asked(random, 'train', choice)))
  },
}

function drawChoice(random: Random): Choice {
  return random.chance(0.55) ? sentimentChoice(random) : intentChoice(random)
}

const moods = [
  { texts: sentimentTexts.positive, means: 'The writer is pleased' },
  { texts: sentimentTexts.negative, means: 'The writer is not pleased' },
  { texts: sentimentTexts.neutral, means: 'The writer only states facts' },
] as const

function sentimentChoice(random: Random): Choice {
  const labels = dress(random, random.weighted(labelSets))
  const options = labels.flatMap((label, index) => {
    const mood = moods[index]
    return mood === undefined ? [] : [{ label, ...mood }]
  })
  return { options, prompts: sentimentPrompts, greets: false }
}

const wants = Object.entries({ ...intents, ...topics })

function intentChoice(random: Random): Choice {
  const count = random.integer(2, 5)
  const chosen: (typeof wants)[number][] = []
  for (const [name, want] of random.shuffle(wants)) {
    // Labels that could both be right do not stand together.
    const isNear = chosen.some(([other, { near }]) => near?.includes(name) || want.near?.includes(other))
    if (!isNear && chosen.length < count) chosen.push([name, want])
  }
  const labels = dress(
    random,
    chosen.map(([, { labels: names }]) => random.pick(names)),
  )
  const options = chosen.map(([, { texts, means }], index) => ({ label: labels[index] ?? '', texts, means }))
  return { options, prompts: intentPrompts, greets: true }
}

function asked(random: Random, split: Split, { options, prompts, greets }: Choice): Example {
  const { label, texts, means } = random.pick(options)
  const said = (greets ? vary(random, greetings) : '') + phrase(random, split, texts, words(random))
  const text = greets ? said.charAt(0).toUpperCase() + said.slice(1) : said
  const shuffled = random.shuffle(options.map((option) => option.label))
  const bullets = shuffled.map((one) => `\n- ${one}`).join('')
  const quoted = random.weighted([
    [text, 3],
    [`"${text}"`, 1.5],
    [`'${text}'`, 0.2],
  ])
  const slots = { text: quoted, labels: listing(random, shuffled), bullets }
  return {
    turns: [
      { role: 'user', content: phrase(random, split, prompts, slots) },
      { role: 'assistant', content: label, thinking: `${means}: ${label}.` },
    ],
    judge: { kind: 'exact', text: label },
  }
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
