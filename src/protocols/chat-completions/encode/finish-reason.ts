import type { FinishReason } from '../../../core/generation.ts'

/** Whether the answer was cut, so that its last call may be a fragment. */
export function isCut(reason: FinishReason): boolean {
  return reason.kind === 'length' || reason.kind === 'window'
}

/** Agents go on only after `tool_calls`, so any complete call says so, forced and stopped ones included. */
export function encodeFinishReason(reason: FinishReason, hasCalls: boolean, isLegacy: boolean): string {
  if (isCut(reason)) return 'length'
  if (reason.kind === 'refusal') return 'content_filter'
  if (hasCalls) return isLegacy ? 'function_call' : 'tool_calls'
  return 'stop'
}
