import { inputTokens, type Usage } from '../../../core/generation.ts'

export function encodeUsage(usage: Usage) {
  const promptTokens = inputTokens(usage)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: usage.output,
    total_tokens: promptTokens + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.inputCacheRead,
      cache_write_tokens: usage.inputCacheWrite,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.outputThinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
