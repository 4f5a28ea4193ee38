import type { Random } from '../random.ts'
import { cities } from '../words/cities.ts'
import { weekdays } from '../words/moments.ts'
import { nouns } from '../words/nouns.ts'
import { firstNames, lastNames } from '../words/people.ts'
import * as words from '../words/tools-values.ts'
import { rarely } from './extract-invented.ts'

/** A value and how a request says it. */
export type ToolValue = { readonly value: string | number | boolean; readonly spoken: string }

/** Kinds whose values may hold anything, a full stop too: nothing may follow them in a request. */
export const openKinds = ['text', 'query', 'command', 'sql', 'name', 'words', 'url']

/** The JSON Schema of a kind. */
export function schemaOf(kind: string): Record<string, unknown> {
  const [type = '', range = ''] = kind.split(' ')
  if (type === 'integer' || type === 'number') return { type }
  if (type === 'flag') return { type: 'boolean' }
  if (type === 'choice') return { type: 'string', enum: range.split(/[,/]/) }
  return { type: 'string' }
}

/** Kinds that are made of words, which may be words nobody has seen. */
const wordKinds = 'person email url path file folder image word noun name text words query service slug'.split(' ')

/** A value for practice: where it is made of words, often of such as nobody has seen, so that they must be copied. */
export function drawRareValue(random: Random, kind: string): ToolValue {
  const drawn = drawValue(random, kind)
  if (!wordKinds.includes(kind) || random.chance(0.6)) return drawn
  return said(
    String(drawn.value).replace(/[A-Za-z]{3,}/g, (word) => (random.chance(0.4) ? rarely(random, word) : word)),
  )
}

/** `integer 1 90`, `choice low,high`, `flag with force/without force`, or the name of a maker below. */
export function drawValue(random: Random, kind: string): ToolValue {
  const [type = '', low = '', high = ''] = kind.split(' ')
  if (type === 'integer') return said(random.integer(Number(low), Number(high)))
  if (type === 'number') return said(random.integer(Number(low) * 10, Number(high) * 10) / 10)
  if (type === 'flag') {
    const [yes = 'true', no = 'false'] = kind.slice(5).split('/')
    return random.chance(0.5) ? { value: true, spoken: yes } : { value: false, spoken: no }
  }
  if (type === 'choice') return said(random.pick(low.split(/[,/]/)))
  const make = makers[type]
  if (make === undefined) throw new Error(`No value is known of the kind ${kind}.`)
  return said(make(random))
}

function said(value: string | number): ToolValue {
  return { value, spoken: String(value) }
}

const makers: Readonly<Record<string, (random: Random) => string>> = {
  city: (random) => random.pick(cities),
  person: (random) =>
    random.chance(0.5) ? random.pick(firstNames) : `${random.pick(firstNames)} ${random.pick(lastNames)}`,
  email,
  id,
  phone: (random) => random.pick(['', '+', '0']) + digits(random, 3) + random.pick(['-', ' ', '']) + digits(random, 4),
  url: (random) =>
    `https://${random.pick(['', 'www.', 'docs.', 'api.'])}${random.pick(nouns)}.${random.pick(['com', 'org', 'net', 'io'])}`,
  path: (random) => `${random.chance(0.6) ? folder(random) + '/' : ''}${file(random)}`,
  file,
  folder,
  image: (random) =>
    `${random.pick(nouns)}${random.chance(0.4) ? digits(random, 2) : ''}.${random.pick(['png', 'jpg', 'gif'])}`,
  date: (random) => `2026-${two(random.integer(1, 12))}-${two(random.integer(1, 28))}`,
  time: (random) => `${two(random.integer(0, 23))}:${two(random.integer(0, 11) * 5)}`,
  weekday: (random) => random.pick(weekdays),
  word: (random) => random.pick(nouns),
  noun: (random) => random.pick(nouns),
  name: (random) => `${upper(random.pick(words.adjectives))} ${upper(random.pick(nouns))}`,
  text: (random) => (random.chance(0.5) ? sentence(random) : run(random, random.integer(2, 8))),
  words: (random) => (random.chance(0.5) ? sentence(random) : run(random, random.integer(1, 4))),
  query: (random) => run(random, random.integer(1, 4)),
  language: (random) => random.pick(words.languages),
  currency: (random) => random.pick(words.currencies),
  symbol: (random) => (random.chance(0.5) ? random.pick(words.symbols) : letters(random, random.integer(3, 4))),
  room: (random) => random.pick(words.rooms),
  service: (random) => random.pick(['', 'web-', 'api-', 'auth-', 'data-', 'my-']) + random.pick(nouns),
  slug: (random) => run(random, random.integer(1, 3)).replaceAll(' ', '-'),
  version: (random) => `${random.integer(0, 9)}.${random.integer(0, 20)}.${random.integer(0, 9)}`,
  command: (random) =>
    random
      .pick([
        'ls -la {f}',
        'cat {p}',
        'mkdir {n}',
        'grep {n} {p}',
        'wc -l {p}',
        'git status',
        'git log',
        'df -h',
        'uptime',
        'head {p}',
        'touch {p}',
        'echo {n}',
        'ps aux',
        'npm test',
        'npm start',
        'node {n}.js',
        'python {n}.py',
        'rm {p}',
        'du -sh {f}',
      ])
      .replace('{f}', () => folder(random))
      .replace('{p}', () => file(random))
      .replace('{n}', () => random.pick(nouns)),
  sql: (random) => {
    const table = `${random.pick(nouns)}s`
    return random.pick([
      `SELECT * FROM ${table}`,
      `SELECT count(*) FROM ${table}`,
      `SELECT ${random.pick(nouns)} FROM ${table}`,
      `DELETE FROM ${table} WHERE id = ${random.integer(1, 99)}`,
      `SELECT * FROM ${table} WHERE ${random.pick(nouns)} > ${random.integer(1, 99)}`,
    ])
  },
}

function id(random: Random): string {
  return random.weighted<() => string>([
    [() => `${letters(random, random.integer(2, 3))}-${digits(random, random.integer(2, 5))}`, 4],
    [() => digits(random, random.integer(2, 6)), 4],
    [() => `${letters(random, 2).toLowerCase()}${digits(random, 2)}-${letters(random, 2).toLowerCase()}`, 2],
    [() => `${letters(random, 1)}${digits(random, random.integer(2, 4))}`, 2],
    [() => `${letters(random, 3).toLowerCase()}_${digits(random, 3)}`, 1],
  ])()
}

function email(random: Random): string {
  const name = random.pick(firstNames).toLowerCase()
  const whole = random.chance(0.35)
    ? `${name}.${random.pick(lastNames).toLowerCase()}`
    : name + (random.chance(0.2) ? digits(random, 2) : '')
  return `${whole.replace(/[^a-z0-9.]/g, '')}@${random.pick(words.domains)}`
}

function sentence(random: Random): string {
  const noun = () => random.pick(nouns)
  return random.pick([
    `the ${noun()} is ready`,
    `please bring the ${noun()}`,
    `call ${random.pick(firstNames)} about the ${noun()}`,
    `buy a new ${noun()}`,
    `the ${noun()} does not work`,
    `see you at the ${noun()}`,
    `thanks for the ${noun()}`,
    'I will be late',
    `we need more ${noun()}s`,
    `the ${noun()} is ${random.pick(words.adjectives)}`,
    `pick up the ${noun()} at the ${noun()}`,
    'the meeting moved',
    `where is my ${noun()}`,
    `clean the ${noun()}`,
    `lunch with ${random.pick(firstNames)}`,
    `fix the ${random.pick(words.adjectives)} ${noun()}`,
  ])
}

function run(random: Random, count: number): string {
  return Array.from({ length: count }, () => random.pick(random.chance(0.2) ? words.adjectives : nouns)).join(' ')
}

function file(random: Random): string {
  return `${random.pick(nouns)}${random.chance(0.2) ? `-${random.pick(nouns)}` : ''}.${random.pick(words.extensions)}`
}

function folder(random: Random): string {
  return `${random.pick(['/', '', './', '/home/', '/var/', 'src/', '~/'])}${random.pick(nouns)}`
}

function digits(random: Random, count: number): string {
  return `${random.integer(1, 9)}${Array.from({ length: count - 1 }, () => random.integer(0, 9)).join('')}`
}

function letters(random: Random, count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(65 + random.integer(0, 25))).join('')
}

function upper(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
