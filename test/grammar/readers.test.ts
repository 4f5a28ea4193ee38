// What other engines keep grammars with takes ours as llama.cpp does. xgrammar agrees on every text; llguidance decides which of
// several texts has begun before it can tell, and so takes fewer, but none that is not of the grammar.

import { deepEqual, ok } from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { JsonSchema, Tool } from '../../src/core/generation.ts'
import { planAnswer } from '../../src/engines/text/answer/answer-plan.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { prepareFormats } from '../../src/grammar/formats.ts'
import { randomObjectSchema, randomOutputSchema } from '../campaigns/bodies/random-schemas.ts'
import { createRandom } from '../campaigns/random.ts'
import { grammarReaders } from '../harness/programs/grammar-readers.ts'
import { findProgram } from '../harness/programs/program.ts'
import { engineRequest } from '../harness/requests.ts'
import { renderWith } from '../templates/render.ts'
import { synthesize } from '../templates/synthetic.ts'
import { templateFiles } from '../templates/template-files.ts'
import { toGrammar } from './compile.ts'
import { createDeriver } from './derive.ts'
import { createNativeParser } from './native-grammar.ts'
import { parseGbnf, type Sequence, type Term } from './parse-gbnf.ts'
import { openReader, type Reader, readerNames } from './readers/open-reader.ts'

const { path: python, skip } = findProgram(grammarReaders)
const parseNative = await createNativeParser()
prepareFormats()

/** A grammar with texts that it derives, the same with a character less or more, and what llama.cpp says of each. */
type Case = {
  readonly label: string
  readonly grammar: string
  readonly texts: readonly string[]
  readonly native: readonly boolean[]
}

function caseOf(label: string, grammar: string, seed: number): Case {
  const random = createRandom(seed)
  const derive = createDeriver(parseGbnf(grammar), (below) => random.integer(0, below - 1))
  const derived = [derive(), derive(), derive()]
  const damaged = derived.flatMap((text) => {
    const at = random.integer(0, Math.max(0, text.length - 1))
    const more = random.pick(['"', ',', '}', ' ', '0', 'é', '\\', '<', '\n', '日'])
    return [text.slice(0, at) + text.slice(at + 1), text.slice(0, at) + more + text.slice(at)]
  })
  const texts = [...derived, ...damaged].filter((text) => text.isWellFormed() && text.length < 4_000)
  const native = parseNative(grammar)
  return { label, grammar, texts, native: texts.map((text) => native.accepts(text)) }
}

function schemaCases(): Case[] {
  const object = { type: 'object', properties: { a: { type: 'string' }, A: { type: 'string' } }, required: ['a'] }
  const alike = { type: 'object', properties: Object.fromEntries(namesakes.map((name) => [name, object])) }
  const made = Array.from({ length: 120 }, (_, seed) => {
    const random = createRandom(seed, 3)
    const schema = random.chance(0.5) ? randomObjectSchema(random) : randomOutputSchema(random)
    return caseOf(JSON.stringify(schema).slice(0, 400), toGrammar(schema), seed)
  })
  return [...made, caseOf('names that are alike', toGrammar(alike), 1)]
}

/** Names that some reader takes for one another, or for its own. */
const namesakes = [
  'root',
  'start',
  'Content-Type',
  'content_type',
  'CONTENT-TYPE',
  'contentType',
  'a-2',
  'a_2',
  'import',
  'regex',
]

const properties: JsonSchema = {
  place: { type: 'string', pattern: '^[^<"\\-\\]^]+[-A-Z]{2}$' },
  note: { type: 'string', maxLength: 9 },
  kind: { enum: ['a', 'a<b', 'ä"]', '\u007f0', '\u0085\n'] },
  days: { type: 'array', items: { type: 'integer' }, maxItems: 1 },
  more: { type: 'object' },
}
const parameters = { type: 'object', properties, required: ['place', 'note'] }
const tools = ['get_weather', 'Write'].map((name): Tool => ({
  name,
  description: '',
  parameters,
  isStrict: false,
  schemaPath: ['tools', name],
  input: 'json',
}))

/** The calls of tools as templates of open models have them, and as made-up ones do. */
function toolCases(): Case[] {
  const made = Array.from({ length: 30 }, (_, seed) => ({
    name: `made up ${seed}`,
    source: synthesize(createRandom(seed)).source,
  }))
  return [...templateFiles, ...made].flatMap(({ name, source }, seed) => {
    const format = deriveToolFormat(renderWith(source))
    if (format === null) return []
    const toolChoice = { kind: 'required', parallel: true, allowed: null } as const
    const { forced } = planAnswer(engineRequest({ tools, toolChoice }), format)
    return [caseOf(name, forced ?? '', seed)]
  })
}

/**
 * Where a rule that stands for a character of a text is used otherwise than first, or again and again, or names other rules,
 * xgrammar looks at most of its vocabulary for each token.
 */
function slowCharacters(grammar: string): string[] {
  const rules = parseGbnf(grammar)
  const isWide = (sequence: Sequence) => sequence.length === 1 && sequence[0]?.kind === 'class' && isMany(sequence[0])
  const characters = new Map([...rules].filter(([, forms]) => forms.length > 1 && forms.some(isWide)))
  const isCharacter = (term: Term) => term.kind === 'rule' && characters.has(term.name)
  const isSlow = (term: Term, at: number): boolean => {
    if (term.kind === 'group') return term.alternatives.some((sequence) => sequence.some(isSlow))
    if (term.kind !== 'repeat') return at > 0 && isCharacter(term)
    const isAny = term.min === 0 && term.max === Infinity
    return isCharacter(term.term) ? !isAny : isSlow(term.term, 0)
  }
  const made = [...characters].filter(([, forms]) =>
    forms.flat().some(({ kind }) => kind !== 'class' && kind !== 'text'),
  )
  const used = [...rules].filter(([, forms]) => forms.some((sequence) => sequence.some(isSlow)))
  return [...made, ...used].map(([name]) => name)
}

function isMany({ ranges, isNegated }: Extract<Term, { kind: 'class' }>): boolean {
  return isNegated || ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0) > 1_000
}

describe('the grammars of texts', () => {
  const text = (keywords: JsonSchema) => caseOf(JSON.stringify(keywords), toGrammar({ type: 'string', ...keywords }), 1)
  const texts = [
    {},
    { minLength: 1 },
    { minLength: 400 },
    { maxLength: 40 },
    { minLength: 5, maxLength: 5_000 },
    { maxLength: 400_000 },
    { pattern: 'a.b' },
    { pattern: '^.{3}x.{0,40}$' },
    { pattern: '^\\S{2,300}$' },
    { format: 'email' },
  ].map(text)
  const map = {
    type: 'object',
    propertyNames: { pattern: '^x' },
    additionalProperties: { type: 'string', maxLength: 9 },
  }
  for (const [what, cases] of [
    ['texts of all lengths', [...texts, caseOf('a map', toGrammar(map), 1)]],
    ['schemas', schemaCases()],
    ['calls of tools', toolCases()],
  ] as const)
    it(`have no character that xgrammar is slow to look up, in ${what}`, () => {
      for (const { label, grammar } of cases)
        deepEqual(slowCharacters(grammar), [], `${label}\n${grammar.slice(0, 4_000)}`)
    })
})

describe('the readers of grammars of other engines', { skip }, () => {
  const readers = new Map<string, Reader>(
    skip === false ? readerNames.map((name) => [name, openReader(python, name)]) : [],
  )
  after(() => Promise.all([...readers.values()].map((reader) => reader.close())))

  async function acceptedBy(
    name: (typeof readerNames)[number],
    { label, grammar, texts }: Case,
  ): Promise<readonly boolean[]> {
    const reading = await readers.get(name)?.read(grammar, texts)
    ok(
      reading !== undefined && 'accepted' in reading,
      `${name} refuses ${label}: ${JSON.stringify(reading).slice(0, 600)}\n${grammar}`,
    )
    return reading.accepted
  }

  for (const [what, cases] of [
    ['schemas', schemaCases()],
    ['calls of tools', toolCases()],
  ] as const) {
    it(`take the grammars of ${what} as llama.cpp does`, async () => {
      let [taken, all] = [0, 0]
      for (const one of cases) {
        const { label, texts, native } = one
        deepEqual(await acceptedBy('xgrammar', one), native, `${label}\n${JSON.stringify(texts)}`)
        const accepted = await acceptedBy('llguidance', one)
        deepEqual(
          accepted.filter((isAccepted, at) => isAccepted && native[at] === false),
          [],
          label,
        )
        taken += accepted.filter(Boolean).length
        all += native.filter(Boolean).length
      }
      ok(taken > all * 0.8, `${taken} of ${all}`)
      ok(all > 100, String(all))
    })
  }
})
