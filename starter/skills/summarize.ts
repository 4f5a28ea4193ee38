import type { Skill, Split } from '../example.ts'
import { drawFor, phrase, vary } from '../phrase.ts'
import type { Random } from '../random.ts'
import { cities } from '../words/cities.ts'
import { companies } from '../words/companies.ts'
import { drawDay, drawMoney, drawTime, weekdays } from '../words/moments.ts'
import { firstNames, jobs, lastNames } from '../words/people.ts'
import { productNames, productPlurals } from '../words/products.ts'
import {
  events,
  faults,
  projects,
  publicGoals,
  roadCauses,
  streets,
  systems,
  topics,
  weathers,
} from '../words/occasions.ts'
import { inventName } from './extract-invented.ts'
import { domains, fillers } from './summary-domains.ts'
import { summaryPrompts } from './summary-prompts.ts'

export const summarize: Skill = {
  name: 'summarize',
  weight: 6,
  goal: 0.9,
  make(random, split) {
    const domain = random.pick(domains)
    const facts = drawFor(
      split,
      () => Object.fromEntries(domain.slots.map((slot) => [slot, drawFact(random, slot)])),
      (drawn) => Object.values(drawn).join(' '),
    )
    const text = textOf(random, split, domain.texts, facts)
    const summary = vary(random, [domain.summary], facts)
    return {
      turns: [
        { role: 'user', content: phrase(random, split, summaryPrompts, { text }) },
        { role: 'assistant', content: capitalized(summary), thinking: 'The text is to be summed up in one sentence.' },
      ],
      judge: { kind: 'facts', required: Object.values(facts) },
    }
  },
}

function textOf(
  random: Random,
  split: Split,
  texts: readonly string[],
  facts: Readonly<Record<string, string>>,
): string {
  const names = Object.fromEntries(Object.keys(facts).map((slot) => [slot, `{${slot}}`]))
  // The filler takes part in the holding out: the texts alone have too few wordings.
  const wording = drawFor(
    split,
    () => {
      const chosen = random.sample(fillers, random.pick([0, 1, 1, 1, 2]))
      const filler = chosen.map((template) => vary(random, [template])).join(' ')
      return vary(random, texts, { ...names, filler })
    },
    String,
  )
  const filled = vary(random, [wording], facts).replace(/ {2,}/g, ' ').trim()
  return filled.replace(/(^|[.!?] )([a-z])/g, (_, before: string, letter: string) => before + letter.toUpperCase())
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function drawFact(random: Random, slot: string): string {
  switch (slot) {
    case 'person':
      return random.chance(0.4)
        ? random.pick(firstNames)
        : random.chance(0.7)
          ? `${random.pick(firstNames)} ${random.pick(lastNames)}`
          : `${inventName(random)} ${inventName(random)}`
    case 'company':
      return random.chance(0.7) ? random.pick(companies) : inventName(random)
    case 'city':
    case 'from':
      return random.pick(cities.slice(0, 110))
    case 'city2':
    case 'to':
      // The second half, so that nobody travels from a city to itself.
      return random.pick(cities.slice(110))
    case 'day':
      return random.chance(0.25) ? random.pick(weekdays) : drawDay(random)
    case 'weekday':
      return random.pick(weekdays)
    case 'time':
      return drawTime(random)
    case 'amount':
      return drawMoney(random, 5_000).text
    case 'product':
      return random.pick(productNames)
    case 'products':
      return random.pick(productPlurals)
    case 'quantity':
      return String(random.integer(3, 240))
    case 'percent':
      return String(random.integer(5, 95))
    case 'minutes':
      return String(random.integer(6, 180))
    case 'degrees':
      return String(random.integer(2, 38))
    case 'score': {
      const lost = random.integer(0, 3)
      return `${lost + random.integer(1, 4)}-${lost}`
    }
    default:
      return random.pick(lists[slot] ?? [])
  }
}

const lists: Readonly<Record<string, readonly string[]>> = {
  job: jobs,
  topic: topics,
  project: projects,
  system: systems,
  fault: faults,
  roadCause: roadCauses,
  event: events,
  weather: weathers,
  street: streets,
  goal: publicGoals,
}
