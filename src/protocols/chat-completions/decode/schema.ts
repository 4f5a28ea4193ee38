import { z } from 'zod'
import { efforts } from '../../../core/generation.ts'
import { objectOf, optional } from '../../parse-body.ts'
import { choice, integer, jsonObject } from './field-schema.ts'
import { messageSchema } from './message-schema.ts'
import { toolFields } from './tool-schema.ts'

const boolean = optional(z.boolean())
const number = optional(z.number())
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

const metadata = objectOf(z.string().max(512), 'expected an object')
  .refine((pairs) => Object.keys(pairs).length <= 16, 'expected at most 16 pairs')
  .refine((pairs) => Object.keys(pairs).every((key) => key.length <= 64), 'expected keys of at most 64 characters')

const samplingFields = {
  max_completion_tokens: optional(integer(1)),
  max_tokens: optional(integer(1)),
  temperature: optional(z.number().min(0).max(2)),
  top_p: optional(z.number().min(0).max(1)),
  presence_penalty: optional(z.number().min(-2).max(2)),
  frequency_penalty: optional(z.number().min(-2).max(2)),
  stop: optional(z.union([z.string(), z.array(z.string())], { error: 'expected a string or an array of strings' })),
  seed: optional(integer()),
  n: optional(integer(1, choicesMax)),
  logit_bias: optional(
    objectOf(z.number().min(-100).max(100), 'expected an object').refine(
      (biases) => Object.keys(biases).length <= biasesMax,
      `expected at most ${biasesMax} tokens`,
    ),
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

/** Every spelling of the reasoning switch in use. */
const reasoningFields = {
  reasoning_effort: optional(choice(efforts)),
  reasoning: optional(
    z.looseObject({
      effort: optional(choice(efforts)),
      max_tokens: optional(integer(0)),
      enabled: boolean,
      exclude: boolean,
    }),
  ),
  thinking: optional(
    z.looseObject({
      type: choice(['enabled', 'disabled', 'adaptive']),
      budget_tokens: optional(integer(0)),
    }),
  ),
  enable_thinking: boolean,
  thinking_budget: optional(integer(-1)),
  chat_template_kwargs: optional(z.looseObject({ enable_thinking: boolean, thinking: boolean })),
  thinking_budget_tokens: optional(integer(-1)),
  include_reasoning: boolean,
}

/** Extensions of other servers that have an effect here. */
const honouredExtensions = {
  top_k: optional(integer(-1)),
  min_p: optional(z.number().min(0).max(1)),
  repetition_penalty: optional(z.number().positive()),
  repeat_penalty: optional(z.number().positive()),
  min_tokens: optional(integer(0)),
  include_stop_str_in_output: boolean,
  add_generation_prompt: boolean,
  continue_final_message: boolean,
  guided_json: optional(z.union([z.string(), jsonObject], { error: 'expected a string or an object' })),
  json_schema: optional(jsonObject),
  usage: optional(z.looseObject({ include: boolean })),
}

/** Extensions without an effect here; a wrong type still shows a broken client. */
const ignoredExtensions = {
  typical_p: number,
  top_n_sigma: number,
  mirostat: number,
  mirostat_tau: number,
  mirostat_eta: number,
  dry_multiplier: number,
  dry_base: number,
  dry_allowed_length: number,
  dry_penalty_last_n: number,
  xtc_probability: number,
  xtc_threshold: number,
  length_penalty: number,
  skip_special_tokens: boolean,
  spaces_between_special_tokens: boolean,
  add_special_tokens: boolean,
  cache_salt: string,
  extra_body: optional(jsonObject),
}

export const chatBodySchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  stream: boolean,
  stream_options: optional(z.looseObject({ include_usage: boolean, include_obfuscation: boolean })),
  response_format: optional(responseFormat),
  modalities: optional(z.array(z.string())),
  ...samplingFields,
  ...toolFields,
  ...reasoningFields,
  ...honouredExtensions,
  ...ignoredFields,
  ...ignoredExtensions,
})

export type ChatBody = z.output<typeof chatBodySchema>
