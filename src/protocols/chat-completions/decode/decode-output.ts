import type { ErrorPath } from '../../../core/error.ts'
import type { JsonSchema, OutputFormat } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { ChatBody } from './schema.ts'

export function decodeOutput(body: ChatBody): OutputFormat {
  if (body.response_format !== undefined) return decodeResponseFormat(body.response_format)
  if (body.guided_json !== undefined) return toJson(decodeGuidedJson(body.guided_json), ['guided_json'])
  if (body.json_schema !== undefined) return toJson(body.json_schema, ['json_schema'])
  return { kind: 'text' }
}

function decodeResponseFormat(format: NonNullable<ChatBody['response_format']>): OutputFormat {
  switch (format.type) {
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return toJson(format.schema ?? null, ['response_format', 'schema'])
    case 'json_schema':
      if (format.json_schema === undefined) throw fieldError(['response_format', 'json_schema'], 'missing', '')
      return {
        kind: 'json',
        schema: format.json_schema.schema ?? null,
        schemaPath: ['response_format', 'json_schema', 'schema'],
        isStrict: format.json_schema.strict ?? false,
      }
    default:
      throw fieldError(
        ['response_format', 'type'],
        'unsupported-value',
        'expected "text", "json_object" or "json_schema"',
      )
  }
}

/** The forms without a word on strictness come from servers that keep a schema or refuse it. */
function toJson(schema: JsonSchema | null, schemaPath: ErrorPath): OutputFormat {
  return { kind: 'json', schema, schemaPath, isStrict: true }
}

function decodeGuidedJson(schema: string | JsonSchema): JsonSchema {
  if (typeof schema !== 'string') return schema
  const parsed = parseJson(schema)
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as JsonSchema
  throw fieldError(['guided_json'], 'value', 'expected a JSON Schema')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
