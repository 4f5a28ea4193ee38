// The formats that constrain a string, each written as a pattern. Some take less
// than their standard allows; what they take is valid by it.

import { type Automaton, determinize } from './patterns/automaton.ts'
import { type Nfa, patternNfas } from './patterns/nfa.ts'
import { parsePattern } from './patterns/pattern.ts'

const day = '(?:0[1-9]|[12][0-9]|3[01])'
const leapYear = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
const monthDay = [
  `(?:0[13578]|1[02])-${day}`,
  '(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)',
  '02-(?:0[1-9]|1[0-9]|2[0-8])',
].join('|')
const date = `(?:[0-9]{4}-(?:${monthDay})|${leapYear}-02-29)`

const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9]'
const time = `${clock}:[0-5][0-9](?:[.][0-9]{1,9})?(?:Z|[+-]${clock})`

const count = '[0-9]{1,9}'
const calendarPart = `(?:${count}Y(?:${count}M(?:${count}D)?)?|${count}M(?:${count}D)?|${count}D)`
const clockPart = `T(?:${count}H(?:${count}M(?:${count}S)?)?|${count}M(?:${count}S)?|${count}S)`

// Eight labels of thirty characters stay within the 253 of a name; a label may have 63.
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,28}[a-zA-Z0-9])?'
// Three atoms of twenty characters stay within the 64 of a local part.
const atom = '[a-zA-Z0-9_+-]{1,20}'

const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const hex = '[0-9a-fA-F]'
const group = `${hex}{1,4}`

const base64 = '[A-Za-z0-9+/]'

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  duration: `P(?:${calendarPart}(?:${clockPart})?|${clockPart}|${count}W)`,
  email: `${atom}(?:[.]${atom}){0,2}@(?:${label}[.]){1,4}[a-zA-Z]{2,20}`,
  hostname: `(?:${label}[.]){0,7}${label}`,
  ipv4: `(?:${octet}[.]){3}${octet}`,
  ipv6: ipv6(),
  byte: `(?:${base64}{4})*(?:${base64}{2}==|${base64}{3}=)?`,
  uuid: `${hex}{8}-${hex}{4}-${hex}{4}-${hex}{4}-${hex}{12}`,
}

/** Those that the standard or widespread validators define too; any other name is a remark to whoever reads the schema. */
const unkept: ReadonlySet<string> = new Set([
  'idn-email',
  'idn-hostname',
  'iri',
  'iri-reference',
  'iso-date-time',
  'iso-time',
  'json-pointer',
  'json-pointer-uri-fragment',
  'regex',
  'relative-json-pointer',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
])

export function isUnkeptFormat(name: string): boolean {
  return unkept.has(name)
}

/** The pattern of a format, anchored at both ends; null for one that is only a remark. */
export function formatPattern(name: string): string | null {
  return Object.hasOwn(formats, name) ? `^(?:${formats[name]})$` : null
}

/** A format's automata, and the work that making them counts as, whoever made them. */
type CompiledFormat = {
  readonly nfas: readonly Nfa[]
  readonly readingWork: number
  readonly automaton: Automaton
  readonly automatonWork: number
}

const compiledFormats = new Map<string, CompiledFormat>()

/** Null for a format that is only a remark. */
export function compiledFormat(name: string): CompiledFormat | null {
  const pattern = formatPattern(name)
  if (pattern === null) return null
  const known = compiledFormats.get(name) ?? compileFormat(pattern)
  compiledFormats.set(name, known)
  return known
}

function compileFormat(pattern: string): CompiledFormat {
  let work = 0
  const count = (amount: number) => {
    work += amount
  }
  const nfas = patternNfas(parsePattern(pattern), count)
  const readingWork = work
  const automaton = determinize(nfas, { min: 0, max: Infinity }, count)
  return { nfas, readingWork, automaton, automatonWork: work - readingWork }
}

/** Makes what all formats need, so that no request waits for it. */
export function prepareFormats(): void {
  for (const name of Object.keys(formats)) compiledFormat(name)
}

/** Eight groups, or up to seven of them around a `::` that stands for the rest. */
function ipv6(): string {
  const shortened = Array.from({ length: 8 }, (_, before) => {
    const after = 7 - before
    const left = before === 0 ? ':' : `(?:${group}:){1,${before}}`
    return after === 0 ? `${left}:` : `${left}(?::${group}){1,${after}}`
  })
  return [`(?:${group}:){7}${group}`, ...shortened, '::'].join('|')
}
