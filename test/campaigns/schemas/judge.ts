import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema } from '../../../src/core/generation.ts'

export type Judge = (value: unknown) => boolean

/** What another validator says of a value; null where it does not take the schema. */
export function judgeOf(schema: JsonSchema): Judge | null {
  // It passes over a property of this name.
  if (JSON.stringify(schema).includes('"__proto__"')) return null
  const ajv = new Ajv2020({ strict: false, ownProperties: true, logger: false, validateFormats: true })
  addFormats.default(ajv)
  try {
    return ajv.compile(schema)
  } catch {
    return null
  }
}
