import { z } from 'zod'
import { efforts } from '../../../core/generation.ts'
import { optional } from '../../parse-body.ts'
import { choice, integer, jsonObject } from './field-schema.ts'

const boolean = optional(z.boolean())
const number = optional(z.number())
const string = optional(z.string())

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
const honouredFields = {
  top_k: optional(integer(-1)),
  min_p: optional(z.number().min(0).max(1)),
  repetition_penalty: optional(z.number().positive()),
  repeat_penalty: optional(z.number().positive()),
  min_tokens: optional(integer(0)),
  include_stop_str_in_output: boolean,
  add_generation_prompt: boolean,
  continue_final_message: boolean,
  guided_json: optional(z.union([z.string(), jsonObject])),
  json_schema: optional(jsonObject),
  usage: optional(z.looseObject({ include: boolean })),
}

/** Extensions without an effect here; a wrong type still shows a broken client. */
const ignoredFields = {
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

export const extensionFields = { ...reasoningFields, ...honouredFields, ...ignoredFields }
