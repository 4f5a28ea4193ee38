import type { Usage } from '../../../core/generation.ts'
import type { Json } from '../../protocol.ts'

type Fields = { readonly [key: string]: Json }

/** The usage of a message. One that has not begun yet has no details of its output. */
export function encodeUsage(usage: Usage, state: 'started' | 'complete'): Fields {
  return {
    ...encodeInput(usage),
    cache_creation: {
      ephemeral_5m_input_tokens: usage.inputCacheWrite - usage.inputCacheWriteLong,
      ephemeral_1h_input_tokens: usage.inputCacheWriteLong,
    },
    // Some clients add this number to the final one, so it stays 0 until then.
    output_tokens: state === 'complete' ? usage.output : 0,
    output_tokens_details: state === 'complete' ? encodeOutputDetails(usage) : null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: 'standard',
  }
}

/** The totals at the end of a stream; they replace those it began with. */
export function encodeFinalUsage(usage: Usage): Fields {
  return {
    ...encodeInput(usage),
    output_tokens: usage.output,
    output_tokens_details: encodeOutputDetails(usage),
    server_tool_use: null,
  }
}

function encodeInput(usage: Usage): Fields {
  return {
    input_tokens: usage.inputUncached,
    cache_creation_input_tokens: usage.inputCacheWrite,
    cache_read_input_tokens: usage.inputCacheRead,
  }
}

function encodeOutputDetails(usage: Usage): Fields {
  return { thinking_tokens: usage.outputThinking }
}
