import type { Split } from '../example.ts'
import { drawFor } from '../phrase.ts'
import type { Random } from '../random.ts'
import { nouns } from '../words/nouns.ts'
import { resultFields, toolErrors } from '../words/tools-values.ts'
import { drawRareValue, drawValue } from './tool-values.ts'

/** What a tool returned, how the model says it, and what must be in an answer. */
export type ToolResult = {
  readonly content: string
  readonly spoken: (tool: string) => string
  readonly facts: readonly string[]
}

type Value = string | number | boolean

type Fields = readonly (readonly [string, Value])[]

export function drawResult(random: Random, split: Split): ToolResult {
  return random.weighted([
    [fields, 56],
    [nested, 9],
    [withList, 9],
    [plainList, 5],
    [plainText, 9],
    [failed, 10],
    [empty, 2],
  ])(random, split)
}

function fields(random: Random, split: Split): ToolResult {
  const drawn = drawFields(random, split, random.integer(1, 4))
  return success(random, Object.fromEntries(drawn), said(drawn), facts(drawn))
}

function nested(random: Random, split: Split): ToolResult {
  const [outer, inner] = [
    drawFields(random, split, random.integer(0, 2)),
    drawFields(random, split, random.integer(1, 3)),
  ]
  const group = random.pick([
    'data',
    'result',
    'details',
    'item',
    'order',
    'user',
    'location',
    'account',
    'info',
    'booking',
  ])
  const grouped = inner.map(([name, value]) => [`${group} ${name}`, value] as const)
  const value = { ...Object.fromEntries(outer), [group]: Object.fromEntries(inner) }
  return success(random, value, said([...outer, ...grouped]), facts([...outer, ...inner]))
}

function withList(random: Random, split: Split): ToolResult {
  const before = drawFields(random, split, random.integer(0, 2)).filter(([name]) => name !== 'items')
  const items = random.sample(nouns, random.integer(2, 4))
  const name = random.pick(['items', 'results', 'names', 'files', 'tags', 'products', 'matches', 'entries'])
  const spoken = [...(before.length > 0 ? [said(before)] : []), `${name} are ${items.join(', ')}`].join('; ')
  return success(random, { ...Object.fromEntries(before), [name]: items }, spoken, [...facts(before), ...items])
}

function plainList(random: Random): ToolResult {
  const items = random.sample(nouns, random.integer(2, 5))
  return success(random, items, items.join(', '), items)
}

function plainText(random: Random): ToolResult {
  const text = String(
    drawValue(random, random.pick(['text', 'words', 'city', 'integer 1 999', 'date', 'time', 'id', 'path'])).value,
  )
  return { content: text, spoken: (tool) => `The result of ${tool}: ${text}.`, facts: [text] }
}

function failed(random: Random): ToolResult {
  const reason = random.chance(0.7)
    ? random.pick(toolErrors)
    : `${random.pick(nouns)} ${random.pick(['not found', 'is missing', 'is invalid', 'failed', 'is unavailable'])}`
  const content = random.pick([
    `Error: ${reason}`,
    `error: ${reason}`,
    written(random, { error: reason }),
    written(random, { error: { message: reason } }),
    written(random, { status: 'error', message: reason }),
    written(random, { ok: false, error: reason }),
  ])
  return { content, spoken: (tool) => `The tool ${tool} failed: ${reason}.`, facts: ['failed', reason] }
}

function empty(random: Random): ToolResult {
  const content = random.pick(['[]', '{}', 'null', '{"results": []}', '{"items": []}', '(empty)'])
  return { content, spoken: (tool) => `The result of ${tool} is empty.`, facts: ['empty'] }
}

function success(random: Random, value: unknown, spoken: string, required: readonly string[]): ToolResult {
  return { content: written(random, value), spoken: (tool) => `The result of ${tool}: ${spoken}.`, facts: required }
}

function drawFields(random: Random, split: Split, count: number): Fields {
  if (count === 0) return []
  const draw = () =>
    random.sample(resultFields, count).map((field) => {
      const [name = '', ...kind] = field.split(' ')
      return [name, (split === 'train' ? drawRareValue : drawValue)(random, kind.join(' ')).value] as const
    })
  return drawFor(split, draw, (drawn) => drawn.flat().join(' '))
}

function said(values: Fields): string {
  return values.map(([name, value]) => `${name.replaceAll('_', ' ')} is ${value}`).join('; ')
}

function facts(values: Fields): string[] {
  return values.map(([, value]) => String(value))
}

/** JSON as programs write it: with spaces or without. */
function written(random: Random, value: unknown): string {
  const compact = JSON.stringify(value)
  if (random.chance(0.5)) return compact
  return JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/([[{]) /g, '$1')
    .replace(/ ([\]}])/g, '$1')
}
