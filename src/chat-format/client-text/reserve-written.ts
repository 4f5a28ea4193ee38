import type { ChatTemplate } from '../chat-template.ts'
import type { SpecialToken } from '../control-tokens.ts'
import type { TemplateTraits } from '../probe-template.ts'
import { callTurn, probeTools, sentinelCalls, sentinels } from '../tool-format/probes.ts'
import type { IdShape, TemplateToolMessage, ToolFormat } from '../tool-format/tool-format.ts'

type Written = {
  readonly template: ChatTemplate
  readonly traits: TemplateTraits
  readonly toolFormat: ToolFormat | null
}

/**
 * Reserves the added words that the template writes though its source does not hold them in one piece.
 *
 * `'<|' + message.role + '|>'` gives such a word its meaning as much as `<|user|>` would.
 */
export function reserveWritten(tokens: readonly SpecialToken[], written: Written): SpecialToken[] {
  const markup = [...stringsIn(written.toolFormat), ...stringsIn(written.traits.thinkingTags), ...render(written)]
  return tokens.map((token) => {
    const isWritten = token.text.trim() !== '' && markup.some((text) => text.includes(token.text))
    return { ...token, isReserved: token.isReserved || isWritten }
  })
}

function render({ template, toolFormat }: Written): string[] {
  const ids: IdShape = toolFormat?.history.ids ?? { kind: 'any' }
  const [call] = sentinelCalls(ids)
  const user = { role: 'user', content: sentinels.user } as const
  const system = { role: 'system', content: sentinels.text } as const
  const answer = { role: 'assistant', content: sentinels.text, reasoning_content: sentinels.thinking } as const
  const result = { role: 'tool', content: sentinels.results[0], tool_call_id: call.id, name: call.name } as const
  const conversations: readonly (readonly TemplateToolMessage[])[] = [
    [user],
    [system, user, answer, user, answer],
    ...(['object', 'text'] as const).map((form) => [user, callTurn([call], form), result, answer]),
  ]
  const asked = conversations.flatMap((messages) =>
    [null, probeTools].flatMap((tools) => [true, false].map((enableThinking) => ({ messages, tools, enableThinking }))),
  )
  return asked.flatMap(({ messages, ...options }) => {
    try {
      return [template.probe(messages, { ...options, addGenerationPrompt: true })]
    } catch {
      return []
    }
  })
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
