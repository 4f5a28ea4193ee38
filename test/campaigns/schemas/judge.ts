import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../../../src/core/generation.ts'
import { isExactMultiple } from '../../grammar/is-exact-multiple.ts'

export type Judge = (value: unknown) => boolean

/**
 * What another validator says of a value; null where it does not take the schema.
 *
 * Of `multipleOf` it judges by dividing doubles, to which 4.1 is no multiple of 0.01. The standard speaks of numbers as
 * they are written, so that keyword alone is judged in exact decimals.
 */
export function judgeOf(schema: JsonSchema): Judge | null {
  // It passes over a property of this name.
  if (JSON.stringify(schema).includes('"__proto__"')) return null
  const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false, validateFormats: true })
  addFormats.default(ajv)
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: (factor: number, value: number) => isExactMultiple(value, factor),
  })
  try {
    return ajv.compile(schema)
  } catch {
    return null
  }
}
