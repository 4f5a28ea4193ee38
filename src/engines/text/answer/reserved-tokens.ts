import type { EngineRequest } from '../../../core/generation.ts'
import type { ModelText } from '../model-text.ts'
import type { PreparedText } from '../prepared-text.ts'

/**
 * How many tokens of the window an answer may not have, because the engine may put tokens of its own there: what closes
 * thinking whose budget is used up, or the blank line behind thinking that a grammar follows. The former ends with the latter.
 */
export function reservedTokens(
  { thinking }: Pick<EngineRequest, 'thinking'>,
  { prompt, plan }: PreparedText,
  { closeThinkingTokens, gapTokens }: Pick<ModelText, 'closeThinkingTokens' | 'gapTokens'>,
): number {
  if (!prompt.thinks) return 0
  if (thinking.kind === 'on' && thinking.tokensMax !== null) return closeThinkingTokens.length
  return plan.forced === null ? 0 : gapTokens.length
}
