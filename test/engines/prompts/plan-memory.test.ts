// A plan that was made before is found again, and nobody could tell by the plan.

import { deepEqual, equal, notEqual, ok, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import fastCheck from 'fast-check'
import { deriveToolFormat } from '../../../src/chat-format/tool-format/derive-tool-format.ts'
import type { ToolFormat } from '../../../src/chat-format/tool-format/tool-format.ts'
import type { EngineRequest, JsonSchema, OutputFormat, Tool, ToolChoice } from '../../../src/core/generation.ts'
import { planAnswer } from '../../../src/engines/text/answer/answer-plan.ts'
import { PlanMemory } from '../../../src/engines/text/answer/plan-memory.ts'
import { createRandom } from '../../grammar/derive.ts'
import { randomSchema } from '../../grammar/random-schema.ts'
import { engineRequest } from '../../harness/requests.ts'
import { renderWith } from '../../templates/render.ts'

const formats = ['json-envelope.jinja', 'marked-text.jinja', 'tagged.jinja'].map((name) => {
  const source = readFileSync(join(import.meta.dirname, '../../fixtures/templates', name), 'utf8')
  return deriveToolFormat(renderWith(source))
})
const [envelope = null, , tagged = null] = formats

const toolOf = (name: string, properties: JsonSchema, isStrict = false): Tool => ({
  name,
  description: '',
  parameters: { type: 'object', properties },
  isStrict,
  schemaPath: ['tools', name],
  input: 'json',
})
const look = toolOf('look', { place: { type: 'string', pattern: '^[a-z]+$' }, days: { type: 'integer', maximum: 9 } })
const asks = (changes: Partial<EngineRequest> = {}) => engineRequest({ tools: [look], ...changes })
const by = (organizationId: string) => ({ owner: { organizationId, apiKeyId: 'key_test' } })

const schemas = fastCheck.nat(60).map((seed) => randomSchema(createRandom(seed), 2))
const tools = fastCheck.array(fastCheck.record({ schema: schemas, isStrict: fastCheck.boolean() }), { maxLength: 3 })
const choices = fastCheck.constantFrom<ToolChoice>(
  { kind: 'auto', parallel: true, allowed: null },
  { kind: 'auto', parallel: false, allowed: ['tool_1'] },
  { kind: 'none', parallel: true, allowed: null },
  { kind: 'required', parallel: true, allowed: null },
  { kind: 'named', name: 'tool_0', parallel: false },
)
const outputs = fastCheck.oneof(
  fastCheck.constant<OutputFormat>({ kind: 'text' }),
  fastCheck
    .record({ schema: fastCheck.option(schemas), isStrict: fastCheck.boolean() })
    .map((its): OutputFormat => ({ kind: 'json', schemaPath: ['output'], ...its })),
)
const requests = fastCheck.record({ tools, toolChoice: choices, output: outputs }).map(({ tools: made, ...rest }) => {
  const named = made.map(({ schema, isStrict }, index) => toolOf(`tool_${index}`, { place: schema }, isStrict))
  return engineRequest({ ...rest, tools: named })
})

/** A plan, or the words it is refused with. */
function outcome(make: () => unknown): unknown {
  try {
    return make()
  } catch (error) {
    return String(error)
  }
}

suite('plans that are remembered', () => {
  for (const bytesMax of [2 ** 24, 2 ** 16])
    test(`are those that are made anew, within ${bytesMax} bytes`, () => {
      const memory = new PlanMemory(bytesMax)
      const asked = fastCheck.record({ request: requests, format: fastCheck.constantFrom(null, ...formats) })
      const property = fastCheck.property(asked, ({ request, format }) => {
        const made = outcome(() => planAnswer(request, format))
        // As it comes from a client each time: equal, and another object.
        for (let time = 0; time < 2; time++)
          deepEqual(
            outcome(() => memory.plan(structuredClone(request), format)),
            made,
          )
        ok(memory.bytes <= bytesMax)
      })
      fastCheck.assert(property, { numRuns: 300, seed: 20_261_128 })
      ok(memory.bytes > 0)
    })

  test('are found by equal tools, whatever else the request says', () => {
    const memory = new PlanMemory(2 ** 20)
    const first = memory.plan(asks(), envelope)
    const messages: EngineRequest['messages'] = [{ role: 'user', content: [{ kind: 'text', text: 'And then?' }] }]
    equal(memory.plan(structuredClone(asks({ messages, requestId: 'req_next' })), envelope), first)
  })

  test('are of one organization, and of one notation', () => {
    const memory = new PlanMemory(2 ** 20)
    const first = memory.plan(asks(by('org_one')), envelope)
    const others: readonly (readonly [EngineRequest, ToolFormat | null])[] = [
      [asks(by('org_two')), envelope],
      [asks(by('org_one')), tagged],
    ]
    for (const [request, format] of others) {
      const plan = memory.plan(request, format)
      notEqual(plan, first)
      deepEqual(plan, planAnswer(request, format))
    }
    equal(memory.plan(asks(by('org_one')), envelope), first)
  })

  test('tell apart what JSON writes alike', () => {
    const memory = new PlanMemory(2 ** 20)
    const asking = (maximum: unknown) => asks({ tools: [toolOf('f', { n: { type: 'integer', maximum } }, true)] })
    for (const maximum of [null, Infinity, 0, -0]) {
      const request = asking(maximum)
      deepEqual(
        outcome(() => memory.plan(request, envelope)),
        outcome(() => planAnswer(request, envelope)),
      )
    }
    notEqual(memory.plan(asking(0), envelope), memory.plan(asking(-0), envelope))
  })

  test('are refused each time where a schema is', () => {
    const memory = new PlanMemory(2 ** 20)
    const request = asks({ tools: [toolOf('f', { a: { type: 'integer', not: { const: 1 } } }, true)] })
    for (let time = 0; time < 2; time++) throws(() => memory.plan(request, envelope), /tools\.f\.properties\.a\.not/)
    equal(memory.bytes, 0)
  })

  test('cannot be changed by whoever has one', () => {
    const request = asks({ tools: [toolOf('f', { a: { type: 'integer', not: { const: 1 } } })] })
    const plan = new PlanMemory(2 ** 20).plan(request, envelope)
    const [place] = plan.unenforced
    ok(place !== undefined && plan.lazy !== null)
    for (const part of [plan, plan.lazy, plan.lazy.triggers, plan.banned, plan.unenforced, place])
      ok(Object.isFrozen(part))
  })
})

suite('a memory that is full', () => {
  const numbered = (number: number) => asks({ tools: [toolOf(`tool_${number}`, { place: { type: 'string' } })] })
  const one = new PlanMemory(2 ** 20)
  one.plan(numbered(10), envelope)
  const { bytes } = one

  test('gives up what was not asked for the longest', () => {
    const memory = new PlanMemory(bytes * 10 + 100)
    const first = memory.plan(numbered(10), envelope)
    const second = memory.plan(numbered(11), envelope)
    for (let number = 12; number < 20; number++) memory.plan(numbered(number), envelope)
    equal(memory.bytes, bytes * 10)
    equal(memory.plan(numbered(10), envelope), first)
    memory.plan(numbered(20), envelope)
    equal(memory.plan(numbered(10), envelope), first)
    notEqual(memory.plan(numbered(11), envelope), second)
    ok(memory.bytes <= bytes * 10 + 100)
  })

  test('keeps what it has when a plan comes that would take more than an eighth of it', () => {
    const memory = new PlanMemory(bytes * 10)
    const first = memory.plan(numbered(10), envelope)
    const large = asks({
      tools: [toolOf('f', { a: { enum: Array.from({ length: 900 }, (_, index) => `word ${index}`) } })],
    })
    const plan = memory.plan(large, envelope)
    deepEqual(plan, planAnswer(large, envelope))
    equal(memory.bytes, bytes)
    equal(memory.plan(numbered(10), envelope), first)
  })
})
