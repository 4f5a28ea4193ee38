// Schemas made to hang, to crash or to deceive what compiles them. Each is refused at once, in the
// form of its format and with the field's path, and the engine goes on as if nothing had been.

import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formats, type Answer, type Format } from '../harness/http/ask.ts'
import { checkError } from '../harness/check-error.ts'
import { createTarget, invalid } from './bomb-target.ts'
import { bombs, type Schema } from './schema-bombs.ts'

const send = createTarget()

type SchemaPosition = { readonly path: string; fields(schema: Schema): Schema }
type PlaceName = 'strict' | 'loose' | 'output' | 'loose output'

/** A schema as a strict tool's, as a tool's that promises nothing, and as the answer's, which may promise little too. */
const places: Record<Format, Partial<Record<PlaceName, SchemaPosition>>> = {
  chat: {
    strict: { path: 'tools[0].function.parameters', fields: (schema) => ({ tools: [chatTool(schema, true)] }) },
    loose: { path: 'tools[0].function.parameters', fields: (schema) => ({ tools: [chatTool(schema, false)] }) },
    output: { path: 'response_format.json_schema.schema', fields: (schema) => chatOutput(schema, true) },
    'loose output': { path: 'response_format.json_schema.schema', fields: (schema) => chatOutput(schema, false) },
  },
  messages: {
    strict: { path: 'tools.0.custom.input_schema', fields: (schema) => ({ tools: [messagesTool(schema, true)] }) },
    loose: { path: 'tools.0.custom.input_schema', fields: (schema) => ({ tools: [messagesTool(schema, false)] }) },
    output: {
      path: 'output_config.format.schema',
      fields: (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
    },
  },
}

function chatTool(parameters: Schema, strict: boolean): Schema {
  return { type: 'function', function: { name: 'f', parameters, strict } }
}

function chatOutput(schema: Schema, strict: boolean): Schema {
  return { response_format: { type: 'json_schema', json_schema: { name: 'x', strict, schema } } }
}

function messagesTool(schema: Schema, strict: boolean): Schema {
  return { name: 'f', input_schema: schema, strict }
}

function checkRefusal(answer: Answer, format: Format, path: string): void {
  checkError(answer, format, invalid)
  const { error } = answer.json() as { error: { message: string; param?: string } }
  const named = format === 'chat' ? error.param : error.message
  ok(named?.startsWith(path), `the path is ${named?.slice(0, 200)}`)
  ok(answer.text.length < 2_048, 'the error repeats what was sent')
}

for (const format of formats) {
  describe(`${format}: schemas`, () => {
    for (const { name, schema, isRefused } of bombs) {
      test(name, async () => {
        for (const [place, { path, fields }] of Object.entries(places[format])) {
          const answer = await send(`${name} as ${place}`, format, fields(schema))
          // What is not strict is held to what a grammar can say.
          const mustRefuse = isRefused && !place.startsWith('loose')
          const isTooLong =
            answer.text.includes('context_length_exceeded') || answer.text.includes('prompt is too long')
          if (answer.status === 200) ok(!mustRefuse, `${place}: it was accepted`)
          else if (mustRefuse || !isTooLong) checkRefusal(answer, format, path)
        }
        equal((await send('Hello', format, {})).status, 200)
      })
    }
  })
}
