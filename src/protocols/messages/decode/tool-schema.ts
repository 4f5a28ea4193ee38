import { z } from 'zod'
import { optional } from '../../parse-body.ts'
import { cacheControlSchema, objectSchema, tagged } from './content-schema.ts'

/** The fields of every kind of tool; which of them a kind needs is decided in `decode-tools.ts`. */
export const toolSchema = z.object({
  type: optional(z.string()),
  name: optional(z.string()),
  description: optional(z.string()),
  input_schema: objectSchema.optional(),
  strict: optional(z.boolean()),
  eager_input_streaming: optional(z.boolean()),
  input_examples: optional(z.array(z.unknown())),
  defer_loading: optional(z.boolean()),
  allowed_callers: optional(z.array(z.string())),
  cache_control: cacheControlSchema,
})

const parallel = { disable_parallel_tool_use: optional(z.boolean()) }

export const toolChoiceSchema = tagged(
  [
    z.object({ type: z.literal('auto'), ...parallel }),
    z.object({ type: z.literal('any'), ...parallel }),
    z.object({ type: z.literal('tool'), name: z.string(), ...parallel }),
    z.object({ type: z.literal('none'), ...parallel }),
  ],
  ['auto', 'any', 'tool', 'none'],
)

export type WireTool = z.infer<typeof toolSchema>
export type WireToolChoice = z.infer<typeof toolChoiceSchema>
