import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../../../src/core/generation.ts'
import { isExactMultiple } from '../../grammar/is-exact-multiple.ts'

/** What is wrong with a value; null where it is valid. */
export type Judge = (value: unknown) => string | null

/**
 * What another validator says of a value; null where it does not take the schema.
 *
 * Of `multipleOf` it judges by dividing doubles, to which 4.1 is no multiple of 0.01. The standard speaks of numbers as
 * they are written, so that keyword alone is judged in exact decimals.
 */
export function judgeOf(schema: JsonSchema): Judge | null {
  // It passes over a property of this name.
  if (JSON.stringify(schema).includes('"__proto__"')) return null
  const dialect = typeof schema['$schema'] === 'string' ? schema['$schema'] : ''
  const { $schema: _, ...rest } = /draft-0[34]/.test(dialect) ? (modernized(schema) as JsonSchema) : schema
  // Drafts differ in what a list of items is; each of the two refuses what is the other's.
  const drafts = /draft-0[3467]/.test(dialect) ? [Ajv, Ajv2020] : [Ajv2020, Ajv]
  for (const draft of drafts) {
    try {
      const ajv = createAjv(draft)
      const validate = ajv.compile(rest)
      return (value) => (validate(value) ? null : ajv.errorsText(validate.errors))
    } catch {
      continue
    }
  }
  return null
}

function createAjv(draft: typeof Ajv | typeof Ajv2020): Ajv | Ajv2020 {
  const ajv = new draft({ strict: false, ownProperties: true, logger: false, validateFormats: true })
  addFormats.default(ajv)
  // The fourth draft's name for `$id`, which is an error to it.
  ajv.removeKeyword('id')
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isExactMultiple(value, factor),
  })
  return ajv
}

/** The fourth draft has an exclusive bound as a flag beside the bound. */
function modernized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modernized)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, modernized(inner)])
  const members = new Map(entries)
  for (const [bound, flag] of exclusiveFlags) {
    if (typeof members.get(flag) !== 'boolean' || typeof members.get(bound) !== 'number') continue
    if (members.get(flag) === true) members.set(flag, members.get(bound))
    else members.delete(flag)
  }
  return Object.fromEntries(members)
}

const exclusiveFlags = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const
