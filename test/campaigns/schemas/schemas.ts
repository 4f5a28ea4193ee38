// JSON Schemas and values that are valid for them or not, from the suite that validators are tested with, from packages
// that bring the schema of their settings, from a corpus of what people use, and made up with another validator (ajv)
// as the judge.
//
// A grammar that leaves nothing out of a schema must refuse every value that is not valid. Of those that are valid it
// may refuse some: it fixes the order of keys and generates none that the schema does not name.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { JsonSchema } from '../../../src/core/generation.ts'
import { prepareFormats } from '../../../src/grammar/formats.ts'
import { SchemaFault } from '../../../src/grammar/schema-fault.ts'
import { randomObjectSchema, randomOutputSchema } from '../bodies/random-schemas.ts'
import {
  describeCounts,
  Failures,
  increment,
  quantile,
  type CampaignOptions,
  type CampaignResult,
} from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { toGrammar } from '../../grammar/compile.ts'
import { createDeriver } from '../../grammar/derive.ts'
import { createNativeParser, type NativeGrammar } from '../../grammar/native-grammar.ts'
import { parseGbnf } from '../../grammar/parse-gbnf.ts'
import { mutate, orderLike } from './instances.ts'
import { openCorpus } from './corpus.ts'
import { judgeOf } from './judge.ts'
import { fetchSuite, readSuite, type SuiteCase } from './suite.ts'

/** A compilation that takes longer would be felt by every other request. */
const compileMsMost = 2_000

/** There should be none; where there are some, each may have a cause of its own. */
const shownPerKind = 1_000

type Course = {
  readonly failures: Failures
  readonly parseNative: (grammar: string) => NativeGrammar
  readonly compileMs: number[]
  readonly schemas: Map<string, number>
  readonly instances: Map<string, number>
  /** Keywords that were left out, and how often. */
  readonly leftOut: Map<string, number>
  readonly refusals: Map<string, number>
}

/** The suite and the corpus, which are fetched where they are not there, the schemas of packages, and so many made-up ones. */
export async function runSchemas(options: CampaignOptions): Promise<CampaignResult> {
  return runOn({ suite: await fetchSuite(), corpus: await openCorpus() }, options)
}

/** The suite, outside of releases only where it was fetched before, and no corpus. */
export async function runSchemasShort(options: CampaignOptions): Promise<CampaignResult> {
  const isFetched = process.env['CI'] !== undefined
  return runOn({ suite: isFetched ? await fetchSuite() : (readSuite() ?? []), corpus: [] }, options)
}

type Cases = { readonly suite: readonly SuiteCase[]; readonly corpus: Iterable<SuiteCase> }

async function runOn({ suite, corpus }: Cases, { seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  prepareFormats()
  const shared = { failures: new Failures(shownPerKind), parseNative: await createNativeParser() }
  const course = createCourse(shared)
  for (const one of suite) runSuiteCase(course, one)
  log(`${suite.length} schemas of the suite: ${describeCounts(course.schemas)}`)
  for (const [name, schema] of packageSchemas()) compile(course, name, schema)
  for (let number = 0; number < count; number++) runMadeUp(course, number, createRandom(seed, number))
  const used = createCourse(shared)
  let number = 0
  for (const one of corpus) {
    runCorpusCase(used, one, createRandom(seed, number++))
    if (number % 1_000 === 0) log(`${number} schemas of the corpus: ${describeCounts(used.schemas)}`)
  }
  return shared.failures.toResult({
    'schemas of the suite': suite.length,
    ...figuresOf(course, ''),
    ...(number > 0 && { 'schemas of the corpus': number, ...figuresOf(used, 'corpus: ') }),
  })
}

function createCourse(shared: Pick<Course, 'failures' | 'parseNative'>): Course {
  const counts = { schemas: new Map(), instances: new Map(), leftOut: new Map(), refusals: new Map() }
  return { ...shared, ...counts, compileMs: [] }
}

function figuresOf({ compileMs, schemas, instances, leftOut, refusals }: Course, prefix: string) {
  const figures = {
    schemas: describeCounts(schemas),
    instances: describeCounts(instances),
    'left out': describeCounts(leftOut),
    'refused because': describeCounts(refusals),
    'compiled in p50, p99, longest (ms of a processor)': [0.5, 0.99, 1]
      .map((q) => quantile(compileMs, q).toFixed(1))
      .join(', '),
  }
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [prefix + name, figure]))
}

type Compiled = { readonly text: string; readonly isWhole: boolean }

/** The grammar of a schema as far as it can be kept; null where it is refused. */
function compile(
  { failures, compileMs, schemas, leftOut, refusals }: Course,
  label: string,
  schema: JsonSchema,
): Compiled | null {
  const left = new Set<string>()
  const [before, startedMs] = [process.cpuUsage(), performance.now()]
  try {
    const text = toGrammar(schema, ({ keyword, path }) => left.add(`${keyword} ${path.join('/')}`))
    increment(schemas, left.size === 0 ? 'kept' : 'kept in part')
    for (const one of left) increment(leftOut, one.split(' ', 1)[0])
    return { text, isWhole: left.size === 0 }
  } catch (error) {
    if (!(error instanceof SchemaFault)) failures.add(`compiling threw ${String(error)}`, label)
    increment(schemas, 'refused')
    increment(refusals, error instanceof SchemaFault ? error.message.slice(0, 80) : 'an error')
    return null
  } finally {
    const { user, system } = process.cpuUsage(before)
    // The clock has the wait for a processor in it, and the processors have what other threads do meanwhile, who take away
    // what reading and judging values has left behind. Compiling takes no more than either.
    const ms = Math.min(performance.now() - startedMs, (user + system) / 1_000)
    compileMs.push(ms)
    if (ms > compileMsMost) failures.add('compiling took too long', `${label}: ${Math.round(ms)} ms`)
  }
}

type Read = { readonly compiled: Compiled; readonly native: NativeGrammar }

/** Compiles a schema and tries the tests that came with it; null where it is refused. */
function runSuiteCase(course: Course, { file, description, schema, tests }: SuiteCase): Read | null {
  // A request takes no schema that is `true` or `false`.
  if (typeof schema !== 'object' || schema === null) return null
  const label = `${file}: ${description}`
  const compiled = compile(course, label, schema as JsonSchema)
  if (compiled === null) return null
  const native = course.parseNative(compiled.text)
  for (const { description: name, data, valid, hasLostFraction } of tests) {
    const accepts = native.accepts(JSON.stringify(orderLike(schema, data)))
    if (accepts && !valid && hasLostFraction === true)
      increment(course.instances, 'invalid by a fraction of 0, if at all')
    else check(course, { label: `${label}: ${name}`, accepts, isValid: valid, isWhole: compiled.isWhole })
  }
  return { compiled, native }
}

/** So many values are derived from the grammar of each schema of the corpus. */
const derivedEach = 3

/** Values that the grammar of such a schema derives must be valid as well, where the judge takes the schema. */
function runCorpusCase(course: Course, one: SuiteCase, random: Random): void {
  if (one.schema === null) increment(course.schemas, 'no JSON')
  const read = runSuiteCase(course, one)
  if (read === null) return
  const judge = judgeOf(one.schema as JsonSchema)
  const { compiled, native } = read
  const derive = createDeriver(parseGbnf(compiled.text), (below) => random.integer(0, below - 1))
  for (let round = 0; round < derivedEach; round++) {
    const text = derive()
    const fault = judge?.(JSON.parse(text)) ?? null
    const label = `${one.file}: ${fault ?? ''} ${text.slice(0, 300)}`
    if (!native.accepts(text)) course.failures.add('the engine refuses what the grammar derives', label)
    if (judge === null) increment(course.instances, 'not judged')
    else check(course, { label, accepts: true, isValid: fault === null, isWhole: compiled.isWhole })
  }
}

type Outcome = {
  readonly label: string
  readonly accepts: boolean
  readonly isValid: boolean
  readonly isWhole: boolean
}

function check({ failures, instances }: Course, { label, accepts, isValid, isWhole }: Outcome): void {
  increment(
    instances,
    `${isValid ? 'valid' : 'invalid'} ${accepts ? 'accepted' : 'refused'}${isWhole ? '' : ' in part'}`,
  )
  if (accepts && !isValid && isWhole) failures.add('an invalid value is accepted', label)
}

/** Values that the grammar itself derives must be valid, and damaged ones are accepted only if they are. */
function runMadeUp(course: Course, number: number, random: Random): void {
  const schema = random.chance(0.5) ? randomObjectSchema(random) : randomOutputSchema(random)
  const label = `made up ${number}`
  const compiled = compile(course, label, schema)
  const judge = judgeOf(schema)
  if (compiled === null || judge === null) return
  const derive = createDeriver(parseGbnf(compiled.text), (below) => random.integer(0, below - 1))
  const native = course.parseNative(compiled.text)
  for (let round = 0; round < 4; round++) {
    const text = derive()
    const value: unknown = JSON.parse(text)
    const fault = judge(value)
    const shown = `${label}: ${fault ?? ''} ${text.slice(0, 300)} for ${JSON.stringify(schema).slice(0, 600)}`
    check(course, { label: shown, accepts: true, isValid: fault === null, isWhole: compiled.isWhole })
    if (!native.accepts(text)) course.failures.add('the engine refuses what the grammar derives', shown)
    const damaged = JSON.stringify(mutate(random, value))
    const accepts = native.accepts(damaged)
    const damage = `${label}: ${damaged.slice(0, 300)} for ${JSON.stringify(schema).slice(0, 600)}`
    check(course, { label: damage, accepts, isValid: judge(JSON.parse(damaged)) === null, isWhole: compiled.isWhole })
  }
}

const require = createRequire(import.meta.url)

/** Schemas of settings and of schemas themselves: large, and written by people for other purposes. */
function packageSchemas(): [string, JsonSchema][] {
  const names = [
    'oxlint/configuration_schema.json',
    'oxfmt/configuration_schema.json',
    'knip/schema.json',
    'ajv/dist/refs/json-schema-draft-07.json',
    'ajv/dist/refs/json-schema-2020-12/schema.json',
  ]
  return names.flatMap((name) => {
    try {
      const root = `../../../node_modules/${name}`
      return [[name, JSON.parse(readFileSync(require.resolve(root), 'utf8')) as JsonSchema] as [string, JsonSchema]]
    } catch {
      return []
    }
  })
}
