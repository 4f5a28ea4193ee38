import type { TemplateToolMessage } from './tool-format.ts'

/**
 * Leaves one plain assistant turn between two turns of the user and none of the
 * texts behind: they join the answer that ends the stretch or, while there is
 * none yet, stand in front of its first call.
 */
export function joinTexts(messages: readonly TemplateToolMessage[]): TemplateToolMessage[] {
  const stretches: TemplateToolMessage[][] = [[]]
  for (const message of messages) {
    if (message.role === 'user' || message.role === 'system') stretches.push([])
    stretches.at(-1)?.push(message)
  }
  return stretches.flatMap(joinStretch)
}

function joinStretch(stretch: readonly TemplateToolMessage[]): TemplateToolMessage[] {
  const speaks = (message: TemplateToolMessage) => message.role === 'assistant' && (message.content ?? '') !== ''
  if (!stretch.some((message) => speaks(message) && hasCalls(message))) return [...stretch]
  const content = stretch
    .filter(speaks)
    .map((message) => message.content ?? '')
    .join('\n\n')
  const silent = stretch.flatMap((message) => {
    if (!speaks(message)) return [message]
    return hasCalls(message) ? [{ ...message, content: '' }] : []
  })
  const last = stretch.at(-1)
  const plain = { role: 'assistant', content } as const
  if (last !== undefined && last.role === 'assistant' && !hasCalls(last)) return [...silent, plain]
  return silent.toSpliced(silent.findIndex(hasCalls), 0, plain)
}

function hasCalls(message: TemplateToolMessage): boolean {
  return (message.tool_calls?.length ?? 0) > 0
}
