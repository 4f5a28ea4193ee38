import { z } from 'zod'
import { anyInteger, optional } from '../../parse-body.ts'
import { stopSequenceLengthMax, stopSequencesMax } from '../../stop-sequences.ts'
import { cacheControlSchema, contentSchema, objectSchema, oneOf, systemSchema, tagged } from './content-schema.ts'
import { toolChoiceSchema, toolSchema } from './tool-schema.ts'

// Known fields are checked and unknown ones dropped: clients add fields with
// most of their releases. Fields without an effect have their JSON type checked
// and nothing more.

const integer = anyInteger('Input should be a valid integer')

const turn = z.object({
  role: z.string(),
  content: optional(contentSchema),
  clear_at: optional(z.string()),
})

// A budget over max_tokens is clamped by the decoder; the lower bound is the format's own.
const budgetTokens = integer.min(1024, 'Input should be greater than or equal to 1024')
// Clients ask for displays that no page lists; all but `omitted` show the text.
const display = optional(z.string())

const thinking = tagged(
  [
    z.object({ type: z.literal('disabled') }),
    z.object({ type: z.literal('adaptive'), display }),
    z.object({ type: z.literal('enabled'), budget_tokens: budgetTokens, display }),
    z.object({ type: z.literal('between_tools'), display }),
  ],
  ['disabled', 'adaptive', 'enabled', 'between_tools'],
)

const outputFormat = z.object({ type: oneOf(['json_schema']), schema: objectSchema })

const promptFields = {
  model: z.string(),
  messages: z.array(turn).max(100_000, 'Input should have at most 100000 items'),
  system: optional(systemSchema),
  tools: optional(z.array(toolSchema)),
  tool_choice: optional(toolChoiceSchema),
  thinking: optional(thinking),
  output_config: optional(
    z.object({
      effort: optional(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
      format: optional(outputFormat),
    }),
  ),
  output_format: optional(outputFormat),
  cache_control: cacheControlSchema,
  context_management: optional(objectSchema),
  mcp_servers: optional(z.array(z.unknown())),
  thread: z.unknown().optional(),
  compaction: optional(objectSchema),
  speed: optional(z.string()),
}

const zeroToOne = z
  .number()
  .min(0, 'Input should be greater than or equal to 0')
  .max(1, 'Input should be less than or equal to 1')

const zeroOrMore = integer.min(0, 'Input should be greater than or equal to 0')

const stopSequence = z
  .string()
  .max(stopSequenceLengthMax, `Input should have at most ${stopSequenceLengthMax} characters`)
  .regex(/\S/, 'Input should contain a non-whitespace character')

export const countBodySchema = z.object(promptFields)

export const messagesBodySchema = z.object({
  ...promptFields,
  max_tokens: zeroOrMore,
  stream: optional(z.boolean()),
  stop_sequences: optional(
    z.array(stopSequence).max(stopSequencesMax, `Input should have at most ${stopSequencesMax} items`),
  ),
  temperature: optional(zeroToOne),
  top_p: optional(zeroToOne),
  top_k: optional(zeroOrMore),
  inference_geo: optional(z.string()),
  container: optional(z.union([z.string(), objectSchema], { error: 'Input should be a string or an object' })),
  metadata: optional(z.object({ user_id: optional(z.string()) })),
  service_tier: optional(z.string()),
  diagnostics: optional(objectSchema),
  user_profile_id: optional(z.string()),
  workspace_id: optional(z.string()),
  betas: optional(z.array(z.string())),
  anthropic_beta: optional(z.array(z.string())),
  safeguards: optional(objectSchema),
  tags: optional(objectSchema),
  data_flow: optional(objectSchema),
})

export type CountBody = z.infer<typeof countBodySchema>
export type MessagesBody = z.infer<typeof messagesBodySchema>
export type WireTurn = z.infer<typeof turn>
export type WireThinkingChoice = CountBody['thinking']
