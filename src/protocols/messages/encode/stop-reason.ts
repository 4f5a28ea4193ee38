import type { FinishReason } from '../../../core/generation.ts'
import type { Json } from '../../protocol.ts'

/** Why an answer ended. One that ends of itself after a tool call waits for the tool, whatever the engine called it. */
export function encodeStop(reason: FinishReason, hasToolUse: boolean): { readonly [key: string]: Json } {
  return {
    stop_reason: nameReason(reason, hasToolUse),
    stop_sequence: reason.kind === 'stop-sequence' ? reason.sequence : null,
    stop_details: reason.kind === 'refusal' ? { type: 'refusal', category: null, explanation: null } : null,
  }
}

function nameReason({ kind }: FinishReason, hasToolUse: boolean): string {
  switch (kind) {
    case 'end':
      return hasToolUse ? 'tool_use' : 'end_turn'
    case 'tool-calls':
      return 'tool_use'
    case 'length':
      return 'max_tokens'
    case 'window':
      return 'model_context_window_exceeded'
    case 'stop-sequence':
      return 'stop_sequence'
    case 'refusal':
      return 'refusal'
  }
}
