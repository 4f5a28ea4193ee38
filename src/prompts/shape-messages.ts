import type { Message } from '../core/generation.ts'
import type { TemplateMessage } from './chat-template.ts'
import type { TemplateTraits } from './probe-template.ts'

/**
 * Brings a conversation into the form a template accepts without losing any of its text.
 *
 * The leading run of system messages becomes one. A later system message stays
 * in place where the template allows it and otherwise joins the next user turn,
 * marked as system text. Neighbours of one role are merged, since many templates
 * insist on alternating turns.
 */
export function shapeMessages(messages: readonly Message[], traits: TemplateTraits): TemplateMessage[] {
  const shaped: TemplateMessage[] = []
  for (const message of messages) {
    const isLeading = shaped.every(({ role }) => role === 'system')
    append(shaped, toTemplateMessage(message, message.role === 'system' && (isLeading || traits.takesLateSystem)))
  }
  return traits.takesSystem ? shaped : withoutSystem(shaped)
}

function toTemplateMessage(message: Message, keepsSystemRole: boolean): TemplateMessage {
  const text = joinText(message)
  switch (message.role) {
    case 'system':
      return keepsSystemRole ? { role: 'system', content: text } : { role: 'user', content: markAsSystem(text) }
    case 'user':
      return { role: 'user', content: text }
    case 'assistant': {
      const thinking = message.content.filter((block) => block.kind === 'thinking').map((block) => block.text)
      if (thinking.length === 0) return { role: 'assistant', content: text }
      return { role: 'assistant', content: text, reasoning_content: thinking.join('\n') }
    }
  }
}

function joinText(message: Message): string {
  const texts: string[] = []
  for (const block of message.content) if (block.kind === 'text') texts.push(block.text)
  return texts.join('\n')
}

function append(shaped: TemplateMessage[], message: TemplateMessage): void {
  const last = shaped.at(-1)
  if (last === undefined || last.role !== message.role) {
    shaped.push(message)
    return
  }
  const thinking = [last.reasoning_content, message.reasoning_content].filter((text) => text !== undefined)
  shaped[shaped.length - 1] = {
    role: last.role,
    content: [last.content, message.content].filter((text) => text !== '').join('\n\n'),
    ...(thinking.length > 0 && { reasoning_content: thinking.join('\n') }),
  }
}

/** For templates without a system role: its text opens the first user turn. */
function withoutSystem(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const shaped: TemplateMessage[] = []
  for (const message of messages) append(shaped, message.role === 'system' ? { ...message, role: 'user' } : message)
  return shaped
}

function markAsSystem(text: string): string {
  return `<system>\n${text}\n</system>`
}
