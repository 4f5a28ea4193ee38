import type { Split } from '../example.ts'
import { drawFor } from '../phrase.ts'
import type { Random } from '../random.ts'
import { cities } from '../words/cities.ts'
import { companies } from '../words/companies.ts'
import { drawDate, drawMoney, drawTime } from '../words/moments.ts'
import { firstNames, jobs, lastNames } from '../words/people.ts'
import { brandedProducts, productNames, productPlurals } from '../words/products.ts'
import { digits, inventCode, inventName, inventWord } from './extract-invented.ts'

/** A value as the text has it, and its number where it has one. */
export type Value = { readonly text: string; readonly number?: number }

/** Draws a value for every slot of a text; the e-mail address often belongs to the person. */
export function drawValues(random: Random, split: Split, slots: readonly string[]): Map<string, Value> {
  const values = new Map<string, Value>()
  const person = drawFor(split, () => personName(random), String)
  const company = drawFor(split, () => companyName(random), String)
  for (const slot of slots) values.set(slot, drawValue(random, split, slot, person, company))
  return values
}

function drawValue(random: Random, split: Split, slot: string, person: string, company: string): Value {
  const own = (draw: () => string): Value => ({ text: drawFor(split, draw, String) })
  switch (slot) {
    case 'person':
      return { text: person }
    case 'person2':
      return {
        text: drawFor(
          split,
          () => personName(random),
          (name) => (name === person ? '' : name),
        ),
      }
    case 'company':
      return { text: company }
    case 'email':
      return own(() => emailAddress(random, person))
    case 'city':
    case 'from':
    case 'to':
      return own(() => (random.chance(0.85) ? random.pick(cities) : inventName(random)))
    case 'date':
      return { text: drawDate(random) }
    case 'time':
      return { text: drawTime(random) }
    case 'amount': {
      const money = drawMoney(random)
      return { text: money.text, number: money.value }
    }
    case 'quantity':
      return whole(
        random.weighted([
          [random.integer(2, 20), 2],
          [random.integer(2, 99), 2],
          [random.integer(100, 999), 1],
        ]),
      )
    case 'age':
      return whole(random.integer(18, 89))
    case 'phone':
      return { text: phoneNumber(random) }
    case 'order':
      return { text: orderNumber(random) }
    case 'job':
      return { text: random.pick(jobs) }
    case 'product':
    case 'product2':
      return own(() =>
        random.weighted([
          [random.pick(productNames), 3],
          [random.pick(brandedProducts), 2],
          [`${inventName(random)} ${random.integer(1, 900)}`, 1],
        ]),
      )
    case 'products':
      return { text: random.pick(productPlurals) }
    default:
      throw new Error(`No value is known for the slot ${slot}.`)
  }
}

function whole(number: number): Value {
  return { text: String(number), number }
}

function personName(random: Random): string {
  const first = random.chance(0.67) ? random.pick(firstNames) : inventName(random)
  const last = random.chance(0.67) ? random.pick(lastNames) : inventName(random)
  return random.weighted([
    [`${first} ${last}`, 8],
    [first, 1.5],
    [`${first} ${random.pick([...'ABCDEFGHJKLMPRST'])}. ${last}`, 0.5],
    [`${first}-${random.pick(firstNames)} ${last}`, 0.3],
    [`${first} ${random.pick(['van', 'de', 'von', 'van der', 'da', 'al'])} ${last}`, 0.4],
    [`${first} ${last}-${random.pick(lastNames)}`, 0.3],
  ])
}

function companyName(random: Random): string {
  if (random.chance(0.6)) return random.pick(companies)
  const name = inventName(random)
  return random.weighted([
    [name, 4],
    [
      `${name} ${random.pick(['Ltd', 'Inc', 'GmbH', 'AG', 'Labs', 'Group', 'Systems', 'Foods', 'Motors', 'Media', 'Bank', 'Partners', 'Studio'])}`,
      4,
    ],
    [`${name} & ${random.chance(0.5) ? random.pick(lastNames) : inventName(random)}`, 1],
    [
      `${random.pick(lastNames)} ${random.pick(['& Sons', 'Brothers', 'Consulting', 'Logistics', 'Books', 'Bakery'])}`,
      2,
    ],
  ])
}

function emailAddress(random: Random, person: string): string {
  const words = person
    .toLowerCase()
    .replace(/[^a-z ]/g, '')
    .split(' ')
  const [first = 'info', last = words[0] ?? 'info'] = [words[0], words.at(-1)]
  const user = random.weighted([
    [`${first}.${last}`, 3],
    [`${first}`, 2],
    [`${first.charAt(0)}.${last}`, 2],
    [`${first.charAt(0)}${last}`, 1],
    [`${first}_${last}`, 1],
    [`${last}${random.integer(1, 99)}`, 1],
    [random.pick(['info', 'sales', 'support', 'office', 'hello', 'contact', 'team', 'jobs', 'orders', 'press']), 1],
    [inventCode(random, random.integer(3, 8)), 3],
    [inventWord(random), 2],
    [`${inventWord(random)}.${inventWord(random)}`, 1],
  ])
  const host = random.weighted([
    [
      random.pick([
        'example',
        'mail',
        'post',
        'inbox',
        'web',
        'kontor',
        'studio',
        'shop',
        'bluepeak',
        'northwind',
        'acme',
      ]),
      3,
    ],
    [inventWord(random, 2), 4],
    [inventCode(random, random.integer(3, 6)), 1],
    [`${inventWord(random, 1)}-${inventWord(random, 1)}`, 1],
  ])
  return `${user}@${host}.${random.pick(['com', 'org', 'net', 'io', 'de', 'fr', 'co.uk', 'eu', 'ch', 'nl', 'se', 'es', 'it', 'dev', 'app', 'test', 'example', 'info'])}`
}

function phoneNumber(random: Random): string {
  return random.weighted([
    [`+${random.integer(1, 99)} ${digits(random, random.integer(2, 3))} ${digits(random, random.integer(5, 7))}`, 3],
    [`0${digits(random, 3)} ${digits(random, 6)}`, 2],
    [`555-${digits(random, 4)}`, 2],
    [`(${digits(random, 3)}) ${digits(random, 3)}-${digits(random, 4)}`, 1],
    [`0${digits(random, 2)}/${digits(random, 7)}`, 1],
    [`+${random.integer(1, 99)} ${digits(random, 3)} ${digits(random, 3)} ${digits(random, 3)}`, 1],
  ])
}

function orderNumber(random: Random): string {
  const code = inventCode(random, 2).replace(/\d/g, 'x').toUpperCase()
  return random.weighted([
    [digits(random, random.integer(4, 7)), 3],
    [`${code.charAt(0)}-${digits(random, random.integer(3, 6))}`, 2],
    [`${code}-${digits(random, 4)}`, 2],
    [`${code}${digits(random, random.integer(3, 6))}`, 1],
    [`${digits(random, 4)}-${digits(random, 3)}`, 1],
    [`ORD-${digits(random, 5)}`, 1],
  ])
}
