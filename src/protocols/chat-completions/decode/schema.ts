import { z } from 'zod'
import { optional } from '../../parse-body.ts'
import { extensionFields } from './extension-schema.ts'
import { integer, jsonObject } from './field-schema.ts'
import { messageSchema } from './message-schema.ts'
import { toolFields } from './tool-schema.ts'

const boolean = optional(z.boolean())
const string = optional(z.string())

/** Requests for more answers than this would hold too many slots at once. */
const choicesMax = 8

/** Each bias is looked up for every token that is chosen. */
const biasesMax = 1_024

const responseFormat = z.looseObject({
  type: z.string(),
  json_schema: optional(
    z.looseObject({
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" or "-"'),
      description: string,
      schema: optional(jsonObject),
      strict: boolean,
    }),
  ),
  schema: optional(jsonObject),
})

const metadata = z
  .record(z.string(), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, 'expected at most 16 pairs')
  .refine((pairs) => Object.keys(pairs).every((key) => key.length <= 64), 'expected keys of at most 64 characters')

const samplingFields = {
  max_completion_tokens: optional(integer(1)),
  max_tokens: optional(integer(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  frequency_penalty: optional(z.number().min(-2).max(2)),
  stop: optional(z.union([z.string(), z.array(z.string())])),
  seed: optional(integer()),
  n: optional(integer(1, choicesMax)),
  logit_bias: optional(
    z
      .record(z.string(), z.number().min(-100).max(100))
      .refine((biases) => Object.keys(biases).length <= biasesMax, `expected at most ${biasesMax} tokens`),
  ),
  logprobs: boolean,
  top_logprobs: optional(integer(0, 20)),
}

/** Accepted without an effect: hints, labels and storage that this service does not offer. */
const ignoredFields = {
  verbosity: string,
  prediction: optional(z.looseObject({})),
  audio: optional(z.looseObject({})),
  store: boolean,
  metadata: optional(metadata),
  service_tier: string,
  prompt_cache_key: string,
  prompt_cache_options: optional(z.looseObject({})),
  prompt_cache_retention: string,
  safety_identifier: string,
  user: string,
}

/** Compiled, so that the many fields that a body may have and has not cost next to nothing. */
export const chatBodySchema = z.compile(
  z.looseObject({
    model: z.string(),
    messages: z.array(messageSchema).min(1),
    stream: boolean,
    stream_options: optional(z.looseObject({ include_usage: boolean, include_obfuscation: boolean })),
    response_format: optional(responseFormat),
    modalities: optional(z.array(z.string())),
    ...samplingFields,
    ...toolFields,
    ...extensionFields,
    ...ignoredFields,
  }),
)

export type ChatBody = z.output<typeof chatBodySchema>
