import type { ThinkingChoice } from '../../../core/generation.ts'
import type { ChatBody } from './schema.ts'

/** The first spelling present wins, in the order of this list. */
export function decodeThinking(body: ChatBody): ThinkingChoice {
  if (body.reasoning_effort !== undefined) return { kind: 'effort', effort: body.reasoning_effort }
  return (
    fromReasoning(body.reasoning) ??
    fromThinking(body.thinking) ??
    fromSwitch(body.enable_thinking, body.thinking_budget) ??
    fromSwitch(body.chat_template_kwargs?.enable_thinking ?? body.chat_template_kwargs?.thinking, undefined) ??
    fromSwitch(undefined, body.thinking_budget_tokens) ?? { kind: 'default' }
  )
}

/** Hidden reasoning still happens and is still counted. */
export function hidesThinking(body: ChatBody): boolean {
  return body.reasoning?.exclude === true || body.include_reasoning === false
}

function fromReasoning(reasoning: ChatBody['reasoning']): ThinkingChoice | null {
  if (reasoning === undefined) return null
  if (reasoning.enabled === false) return { kind: 'off' }
  if (reasoning.effort !== undefined) return { kind: 'effort', effort: reasoning.effort }
  return fromSwitch(reasoning.enabled, reasoning.max_tokens)
}

function fromThinking(thinking: ChatBody['thinking']): ThinkingChoice | null {
  switch (thinking?.type) {
    case undefined:
      return null
    case 'disabled':
      return { kind: 'off' }
    case 'enabled':
      return fromSwitch(true, thinking.budget_tokens)
    case 'adaptive':
      return { kind: 'effort', effort: 'high' }
  }
}

/** A budget of zero turns thinking off, a negative one leaves it unlimited. */
function fromSwitch(isOn: boolean | undefined, budget: number | undefined): ThinkingChoice | null {
  if (isOn === undefined && budget === undefined) return null
  if (isOn === false || budget === 0) return { kind: 'off' }
  return { kind: 'on', tokensMax: budget === undefined || budget < 0 ? null : budget }
}
