// Measures what the plan of an answer costs each turn of a conversation in which the same tools are sent: made anew, and
// found in the memory of plans. Both in turn, within one run.
//
//     node bin/odyssey.cjs --run bench/planning/turns.ts [--tools N] [--rounds N] [--request FILE]
//
// FILE is a recorded request of a client, whose tools are taken instead of made-up ones.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compileChatTemplate } from '../../src/chat-format/chat-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import type { EngineRequest, JsonSchema, Tool } from '../../src/core/generation.ts'
import { planAnswer } from '../../src/engines/text/answer/answer-plan.ts'
import { PlanMemory } from '../../src/engines/text/answer/plan-memory.ts'
import { prepareFormats } from '../../src/grammar/formats.ts'
import { engineRequest } from '../../test/harness/requests.ts'
import { wholeNumber } from '../whole-number.ts'

const type = 'string'
const { values } = parseArgs({ options: { tools: { type }, rounds: { type }, request: { type } } })
const rounds = wholeNumber('rounds', values.rounds, 200)
const about = 'What a model is told of it, in a sentence or two as they stand in the tools of coding agents. '.repeat(3)

/** As coding agents declare theirs: paths, texts, flags, bounds, choices, and lists of objects. */
const properties: readonly JsonSchema[] = [
  { type: 'string', description: about },
  { type: 'boolean', description: about, default: false },
  { type: 'integer', minimum: 1, maximum: 600_000, description: about },
  { type: 'string', enum: ['content', 'files', 'count'], description: about },
  { type: 'string', maxLength: 256, description: about },
  {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      properties: { old: { type: 'string' }, new: { type: 'string' }, id: { type: 'string', pattern: '^[a-z0-9-]+$' } },
      required: ['old', 'new'],
      additionalProperties: false,
    },
  },
]

function madeUpTool(index: number): Tool {
  const own = Array.from(
    { length: 4 },
    (_, at) => [`value_${at}`, properties[(index + at) % properties.length]] as const,
  )
  const parameters = { type: 'object', properties: Object.fromEntries(own), required: ['value_0'] }
  return toTool({ name: `tool_${index}`, parameters }, index)
}

type Declared = { readonly name?: string; readonly input_schema?: JsonSchema; readonly parameters?: JsonSchema }

function toTool({ name = '', input_schema, parameters = input_schema ?? {} }: Declared, index: number): Tool {
  return { name, description: about, parameters, isStrict: false, schemaPath: ['tools', index], input: 'json' }
}

function recordedTools(path: string): Tool[] {
  const { body } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly body: { readonly tools: readonly (Declared & { readonly function?: Declared })[] }
  }
  return body.tools.map((declared, index) => toTool(declared.function ?? declared, index))
}

const tools =
  values.request === undefined
    ? Array.from({ length: wholeNumber('tools', values.tools, 30) }, (_, index) => madeUpTool(index))
    : recordedTools(values.request)

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN
}

function measure(name: string): void {
  const source = readFileSync(fileURLToPath(new URL(`../../test/fixtures/templates/${name}`, import.meta.url)), 'utf8')
  const template = compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' })
  const format = deriveToolFormat((messages, options) => template.render(messages, options))
  const memory = new PlanMemory(16 * 2 ** 20)
  const times: Record<'anew' | 'found', number[]> = { anew: [], found: [] }
  const timed = (kind: keyof typeof times, make: (request: EngineRequest) => unknown) => {
    // A request comes from a client each time.
    const request = structuredClone(engineRequest({ tools }))
    const startedMs = performance.now()
    make(request)
    times[kind].push(performance.now() - startedMs)
  }
  for (let round = 0; round < rounds; round++) {
    timed('anew', (request) => planAnswer(request, format))
    timed('found', (request) => memory.plan(request, format))
  }
  const [anew, found] = [median(times.anew), median(times.found)]
  const held = `${Math.round(memory.bytes / 1_000)} kB held`
  console.log(
    `${name.padEnd(20)} anew ${anew.toFixed(2)} ms, found ${found.toFixed(3)} ms: ${(anew / found).toFixed(0)} to 1; ${held}`,
  )
}

prepareFormats()
const characters = JSON.stringify(tools).length
console.log(`${availableParallelism()} processors, ${tools.length} tools of ${characters} characters, P50 of ${rounds}`)
for (const name of ['json-envelope.jinja', 'marked-text.jinja', 'tagged.jinja']) measure(name)
