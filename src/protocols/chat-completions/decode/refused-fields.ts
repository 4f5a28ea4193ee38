import { fieldError } from '../error.ts'
import type { ChatBody } from './schema.ts'

/** Even an empty object asks for something here: a search with default settings, a policy that may block. */
const refusedWhenPresent: readonly string[] = ['web_search_options', 'moderation']

/**
 * Fields that change the shape of the answer, reach into the engine or constrain
 * the output in a way this service cannot keep. Their neutral values pass.
 */
const refusedWhenSet: readonly string[] = [
  'ignore_eos',
  'stop_token_ids',
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'echo',
  'documents',
  'mm_processor_kwargs',
  'truncate_prompt_tokens',
  'prompt_logprobs',
  'return_token_ids',
  'return_tokens_as_token_ids',
  'kv_transfer_params',
  'vllm_xargs',
  'logits_processors',
  'use_beam_search',
  'guided_regex',
  'guided_choice',
  'guided_grammar',
  'structured_outputs',
  'grammar',
]

/** Refuses what would change the answer if it were silently ignored. */
export function refuseFields(body: ChatBody): void {
  for (const field of refusedWhenPresent) if ((body[field] ?? null) !== null) throw refusal(field)
  for (const field of refusedWhenSet) if (isSet(body[field])) throw refusal(field)
  // llama.cpp clients write -1 for "any slot".
  if (isSet(body['id_slot']) && body['id_slot'] !== -1) throw refusal('id_slot')
  refuseModalities(body.modalities ?? [])
}

function refuseModalities(modalities: readonly string[]): void {
  const index = modalities.findIndex((modality) => modality !== 'text')
  if (index === -1) return
  const fault = modalities[index] === 'audio' ? 'unsupported-value' : 'value'
  throw fieldError(['modalities', index], fault, 'expected "text"')
}

function refusal(field: string) {
  return fieldError([field], 'unsupported-field', 'this service does not offer it')
}

function isSet(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  return Object.keys(value).length > 0
}
