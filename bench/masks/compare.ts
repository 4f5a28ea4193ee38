// Measures how long the libraries with which vLLM and SGLang keep grammars take to say which tokens may come next: all answers of
// a replica wait for that, with each token of one that has a grammar. README.md says how.

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { JsonSchema } from '../../src/core/generation.ts'
import { loadText } from '../../src/engines/llama/child/native.ts'
import type { compileSchema } from '../../src/grammar/compile-schema.ts'
import type { prepareFormats } from '../../src/grammar/formats.ts'
import type { createGrammarBuilder } from '../../src/grammar/grammar-builder.ts'
import { describeText, TableReader } from '../../src/engines/text/model-text.ts'
import { createTextTools } from '../../src/engines/text/text-tools.ts'
import { placeholderPath } from '../../test/harness/engines/placeholder-path.ts'
import { openProgram, readerNames } from '../../test/grammar/readers/open-reader.ts'
import { grammarReaders } from '../../test/harness/programs/grammar-readers.ts'
import { wholeNumber } from '../whole-number.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({ options: { weights: text, before: text, tokens: text, walks: text } })
const [count, walks] = [wholeNumber('tokens', values.tokens, 40), wholeNumber('walks', values.walks, 2)]

const address = {
  type: 'object',
  properties: { street: text, number: { type: 'integer' }, tags: { type: 'array', items: text } },
  required: ['street', 'number', 'tags'],
  additionalProperties: false,
}
const schemas: Readonly<Record<string, JsonSchema>> = {
  'a string': text,
  'an object': address,
  'any JSON': {},
  'at least one character': { ...text, minLength: 1 },
  'at most 30 characters': { ...text, maxLength: 30 },
  'at most 250 characters': { ...text, maxLength: 250 },
  'from 5 to 500 characters': { ...text, minLength: 5, maxLength: 500 },
  'at most 20,000 characters': { ...text, maxLength: 20_000 },
  'a pattern': { ...text, pattern: '^[^/]+/[^/]+$' },
  'a date and time': { ...text, format: 'date-time' },
}

type Walk = { readonly compiled: number; readonly taken: readonly number[] }
/** The vocabulary as a library is given it: the bytes of each token, none for those that control. */
async function readVocabulary(): Promise<{ readonly tokens: readonly string[]; readonly end: number }> {
  const native = await loadText({ weightsPath: resolve(values.weights ?? placeholderPath) })
  const reader = new TableReader(describeText(createTextTools(native)).vocabulary)
  const [end] = reader.endTokens
  if (end === undefined) throw new Error('The vocabulary has no token that ends an answer.')
  const tokens = Array.from({ length: reader.size }, (_, token) => Buffer.from(reader.bytesOf(token)).toString('hex'))
  return { tokens, end }
}

/** Writes grammars as a clone of the repository does. */
async function writerOf(clone: string): Promise<(schema: JsonSchema) => string> {
  const load = (path: string): Promise<object> => import(pathToFileURL(resolve(clone, 'src/grammar', path)).href)
  const builders = (await load('grammar-builder.ts')) as { createGrammarBuilder: typeof createGrammarBuilder }
  const compilers = (await load('compile-schema.ts')) as { compileSchema: typeof compileSchema }
  const formats = (await load('formats.ts')) as { prepareFormats: typeof prepareFormats }
  formats.prepareFormats()
  return (schema) => {
    const builder = builders.createGrammarBuilder()
    return builder.toGrammar(compilers.compileSchema(builder, schema))
  }
}

type Sums = { readonly mean: number; readonly longest: number; readonly compiled: number }

async function measure(ask: (question: object) => Promise<Walk>, grammar: string): Promise<Sums> {
  const all: Walk[] = []
  for (let seed = 0; seed < walks; seed++) all.push(await ask({ grammar, count, seed }))
  const taken = all.flatMap((walk) => walk.taken)
  const mean = taken.reduce((sum, ms) => sum + ms, 0) / taken.length
  return { mean, longest: Math.max(...taken), compiled: Math.min(...all.map(({ compiled }) => compiled)) }
}

const rounded = (ms: number) => (ms < 10 ? ms.toFixed(2) : ms.toFixed(0))
const cells = ({ mean, longest, compiled }: Sums) => `${rounded(mean)} | ${rounded(longest)} | ${rounded(compiled)}`

const python = grammarReaders.find() ?? (await grammarReaders.fetch())
const vocabulary = await readVocabulary()
const before = values.before === undefined ? null : await writerOf(values.before)
const now = await writerOf(resolve(import.meta.dirname, '../..'))
console.log(`${vocabulary.tokens.length} tokens; milliseconds; ${walks} walks of ${count} tokens each\n`)
const columns = ['a token', 'the longest', 'compiled']
const heads = [...(before === null ? [] : columns.map((name) => `${name}, before`)), ...columns]
console.log(`| Grammar | Library | ${heads.join(' | ')} |${before === null ? '' : ' A token, before / now |'}`)
console.log(`| - | - | ${heads.map(() => '-:').join(' | ')} |${before === null ? '' : ' -: |'}`)
for (const name of readerNames) {
  const { tell, ask, close } = openProgram<Walk>(python, resolve(import.meta.dirname, 'walk.py'), name)
  tell(vocabulary)
  for (const [label, schema] of Object.entries(schemas)) {
    const old = before === null ? null : await measure(ask, before(schema))
    const sums = await measure(ask, now(schema))
    const compared = old === null ? '' : ` ${(old.mean / sums.mean).toFixed(1)} |`
    console.log(`| ${label} | ${name} | ${old === null ? '' : `${cells(old)} | `}${cells(sums)} |${compared}`)
  }
  await close()
}
