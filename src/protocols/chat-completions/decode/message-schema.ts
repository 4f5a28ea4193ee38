import { z } from 'zod'
import { optional } from '../../parse-body.ts'
import { choice } from './field-schema.ts'
import { toolName } from './tool-schema.ts'

const partTypes = ['text', 'image_url', 'input_audio', 'file', 'refusal'] as const

const contentPart = z.looseObject({ type: choice(partTypes) }).pipe(
  z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text'), text: z.string() }),
    z.looseObject({
      type: z.literal('image_url'),
      image_url: z.looseObject({ url: z.string(), detail: optional(z.string()) }),
    }),
    z.looseObject({ type: z.literal('input_audio') }),
    z.looseObject({
      type: z.literal('file'),
      file: z.looseObject({
        file_data: optional(z.string()),
        file_id: optional(z.string()),
        filename: optional(z.string()),
      }),
    }),
    z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  ]),
)

const content = z.union([z.string(), z.array(contentPart)], { error: 'expected a string or an array of content parts' })

// A call that is replayed names a tool; every service of this format refuses other names than a tool can have.
const functionCall = z.looseObject({ name: toolName, arguments: optional(z.string()) })

const toolCall = z.looseObject({
  id: z.string(),
  type: optional(choice(['function', 'custom'])),
  function: optional(functionCall),
  custom: optional(z.looseObject({ name: toolName, input: optional(z.string()) })),
})

const name = optional(z.string())

const assistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: optional(content),
  refusal: optional(z.string()),
  tool_calls: optional(z.array(toolCall)),
  function_call: optional(functionCall),
  audio: optional(z.looseObject({ id: optional(z.string()) })),
  reasoning_content: optional(z.string()),
  reasoning: optional(z.string()),
  name,
})

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const

export const messageSchema = z
  .looseObject({ role: choice(roles) })
  .pipe(
    z.discriminatedUnion('role', [
      z.looseObject({ role: z.literal('system'), content, name }),
      z.looseObject({ role: z.literal('developer'), content, name }),
      z.looseObject({ role: z.literal('user'), content, name }),
      assistantMessage,
      z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string(), name }),
      z.looseObject({ role: z.literal('function'), content: optional(content), name: z.string() }),
    ]),
  )

export type WireMessage = z.output<typeof messageSchema>
export type WireAssistant = z.output<typeof assistantMessage>
export type WireToolCall = z.output<typeof toolCall>
export type WireContent = z.output<typeof content>
export type WirePart = z.output<typeof contentPart>
