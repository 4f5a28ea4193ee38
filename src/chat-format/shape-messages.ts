import type { JsonSchema, Message, Tool, ToolResultBlock } from '../core/generation.ts'
import type { TemplateMessage } from './chat-template.ts'
import type { TemplateTraits } from './probe-template.ts'
import type { TemplateToolCall } from './tool-format/tool-format.ts'

/**
 * Brings a conversation into the form a template accepts without losing any of its text.
 *
 * The leading run of system messages becomes one. A later system message stays
 * in place where the template allows it and otherwise joins the next user turn,
 * marked as system text. Neighbours of one role are merged, since many templates
 * insist on alternating turns. Results of calls become turns of their own.
 */
export function shapeMessages(
  messages: readonly Message[],
  traits: Pick<TemplateTraits, 'takesSystem' | 'takesLateSystem'>,
  tools: readonly Tool[] = [],
): TemplateMessage[] {
  const shaped: TemplateMessage[] = []
  for (const message of messages) {
    const isLeading = shaped.every(({ role }) => role === 'system')
    const keepsSystemRole = message.role === 'system' && (isLeading || traits.takesLateSystem)
    for (const turn of toTurns(message, { keepsSystemRole, tools })) append(shaped, turn)
  }
  return traits.takesSystem ? shaped : withoutSystem(shaped)
}

type TurnContext = { readonly keepsSystemRole: boolean; readonly tools: readonly Tool[] }

function toTurns(message: Message, { keepsSystemRole, tools }: TurnContext): TemplateMessage[] {
  const content = joinText(message)
  switch (message.role) {
    case 'system':
      return [keepsSystemRole ? { role: 'system', content } : { role: 'user', content: markAsSystem(content) }]
    case 'user': {
      const results = message.content.flatMap((block) => (block.kind === 'tool-result' ? [toToolTurn(block)] : []))
      return results.length > 0 && content === '' ? results : [...results, { role: 'user', content }]
    }
    case 'assistant':
      return [toAssistantTurn(message, content, tools)]
  }
}

function toAssistantTurn(
  { content: blocks }: Extract<Message, { role: 'assistant' }>,
  content: string,
  tools: readonly Tool[],
): TemplateMessage {
  const thinking = blocks.flatMap((block) => (block.kind === 'thinking' ? [block.text] : []))
  const calls = blocks.flatMap((block): TemplateToolCall[] => {
    if (block.kind !== 'tool-call') return []
    // A tool of free text is shown to the model as a function of one text.
    const takesText = tools.some(({ name, input }) => name === block.name && input === 'text')
    const text = takesText ? JSON.stringify({ input: block.arguments }) : block.arguments
    return [{ id: block.id, type: 'function', function: { name: block.name, arguments: text } }]
  })
  return {
    role: 'assistant',
    content,
    ...(thinking.length > 0 && { reasoning_content: thinking.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toToolTurn({ toolCallId, isError, content }: ToolResultBlock): TemplateMessage {
  const text = content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n')
  return { role: 'tool', tool_call_id: toolCallId, content: isError ? `Error: ${text}` : text }
}

function joinText(message: Message): string {
  const texts: string[] = []
  for (const block of message.content) if (block.kind === 'text') texts.push(block.text)
  return texts.join('\n')
}

function append(shaped: TemplateMessage[], message: TemplateMessage): void {
  const last = shaped.at(-1)
  if (last === undefined || last.role !== message.role || message.role === 'tool') {
    shaped.push(message)
    return
  }
  const thinking = [last.reasoning_content, message.reasoning_content].filter((text) => text !== undefined)
  const calls = [...(last.tool_calls ?? []), ...(message.tool_calls ?? [])]
  shaped[shaped.length - 1] = {
    role: last.role,
    content: [last.content, message.content].filter((text) => text !== '').join('\n\n'),
    ...(thinking.length > 0 && { reasoning_content: thinking.join('\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** Opens the first user turn with the system text, since the template has no role for it. */
function withoutSystem(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const shaped: TemplateMessage[] = []
  for (const message of messages) append(shaped, message.role === 'system' ? { ...message, role: 'user' } : message)
  return shaped
}

function markAsSystem(text: string): string {
  return `<system>\n${text}\n</system>`
}

/**
 * A tool's schema in the plainest words of JSON Schema, for templates that fail on others.
 *
 * A list of types becomes the first that is not null. The answer is still held to the schema as it was given.
 */
export function plainSchema(schema: JsonSchema): JsonSchema {
  return plain(schema) as JsonSchema
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Record<string, unknown>)
  return Object.fromEntries(members.map(([key, member]) => [key, key === 'type' ? firstType(member) : plain(member)]))
}

/** A property may be called `type` as well, and then holds a schema. */
function firstType(type: unknown): unknown {
  if (!Array.isArray(type)) return plain(type)
  return (type as readonly unknown[]).find((one) => one !== 'null') ?? type[0]
}

/** Templates walk the properties of a tool without asking whether there are any. */
export function withProperties(schema: JsonSchema): JsonSchema {
  return schema['properties'] === undefined ? { type: 'object', ...schema, properties: {} } : schema
}
