import type { Effort, ThinkingChoice } from '../../../core/generation.ts'
import type { WireThinkingChoice } from './schema.ts'

export type DecodedThinking = {
  readonly choice: ThinkingChoice
  /** The answer carries the thinking only sealed in its signature. */
  readonly isOmitted: boolean
}

type Circumstances = {
  readonly effort: Effort | undefined
  /** Null where nothing will be generated. */
  readonly outputTokensMax: number | null
  readonly followsToolResult: boolean
}

export function decodeThinking(wire: WireThinkingChoice, circumstances: Circumstances): DecodedThinking {
  if (wire === undefined) return { choice: { kind: 'default' }, isOmitted: false }
  const isOmitted = wire.type !== 'disabled' && wire.display === 'omitted'
  return { choice: choose(wire, circumstances), isOmitted }
}

/** Without a `thinking` field the effort says nothing: agents send one with every request, the title of a session included. */
function choose(
  wire: NonNullable<WireThinkingChoice>,
  { effort, outputTokensMax, followsToolResult }: Circumstances,
): ThinkingChoice {
  const adaptive: ThinkingChoice = { kind: 'effort', effort: effort ?? 'high' }
  switch (wire.type) {
    case 'disabled':
      return { kind: 'off' }
    case 'adaptive':
      return adaptive
    case 'between_tools':
      return followsToolResult ? adaptive : { kind: 'off' }
    case 'enabled':
      return { kind: 'on', tokensMax: clampBudget(wire.budget_tokens, outputTokensMax) }
  }
}

/** Clients send budgets as large as the whole answer; one token at least stays for the text. */
function clampBudget(budget: number, outputTokensMax: number | null): number {
  return outputTokensMax === null ? budget : Math.max(1, Math.min(budget, outputTokensMax - 1))
}
