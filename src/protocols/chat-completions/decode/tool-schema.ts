import { z } from 'zod'
import { optional } from '../../parse-body.ts'
import { choice, jsonObject } from './field-schema.ts'

/** Longer and richer than the format's own limit: MCP clients send dots and up to 128 characters. */
export const toolName = z
  .string()
  .regex(/^[a-zA-Z0-9_.-]{1,128}$/, 'expected 1 to 128 letters, digits, "_", "-" or "."')

const functionDefinition = z.looseObject({
  name: toolName,
  description: optional(z.string()),
  parameters: optional(jsonObject),
  strict: optional(z.boolean()),
})

const customDefinition = z.looseObject({
  name: toolName,
  description: optional(z.string()),
  format: optional(z.looseObject({ type: choice(['text', 'grammar']) })),
})

/** `type` stays open: tools that a server would run are dropped by the decoder, not refused here. */
const tool = z.looseObject({
  type: z.string(),
  function: optional(functionDefinition),
  custom: optional(customDefinition),
})

const named = optional(z.looseObject({ name: z.string() }))
const toolReference = z.looseObject({ type: z.string(), function: named, custom: named })

const choiceFault = { error: 'expected a string or an object' }
const toolChoice = z.union(
  [
    z.string(),
    toolReference.extend({
      allowed_tools: optional(z.looseObject({ mode: choice(['auto', 'required']), tools: z.array(toolReference) })),
    }),
  ],
  choiceFault,
)

export const toolFields = {
  // Eight times the format's own limit of 128 tools, which users of several MCP servers exceed.
  tools: optional(z.array(tool).max(1024)),
  tool_choice: optional(toolChoice),
  parallel_tool_calls: optional(z.boolean()),
  functions: optional(z.array(functionDefinition).max(1024)),
  function_call: optional(z.union([z.string(), z.looseObject({ name: z.string() })], choiceFault)),
}

export type WireTool = z.output<typeof tool>
export type WireFunction = z.output<typeof functionDefinition>
export type WireToolReference = z.output<typeof toolReference>
export type WireToolChoice = z.output<typeof toolChoice>
