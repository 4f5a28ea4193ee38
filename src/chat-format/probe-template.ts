import type { ChatTemplate, TemplateMessage } from './chat-template.ts'
import { deriveThinking } from './tool-format/derive-thinking.ts'

/** What a template can say, found out by rendering small conversations with it. */
export type TemplateTraits = {
  readonly takesSystem: boolean
  /** A system message after the first turn is rendered in place. */
  readonly takesLateSystem: boolean
  /** The markers around thinking; null when the model does not think. */
  readonly thinkingTags: ThinkingTags | null
  /** `never` is a model that thinks whatever it is told; `none` one whose template leaves it to the prompt's end. */
  readonly thinkingSwitch: 'flag' | 'none' | 'never'
}

export type ThinkingTags = { readonly open: string; readonly close: string }

/** For templates that show their tags in no render, because they leave thinking out of history. */
const knownTags: readonly ThinkingTags[] = [
  { open: '<think>', close: '</think>' },
  { open: '[THINK]', close: '[/THINK]' },
  { open: '<seed:think>', close: '</seed:think>' },
  { open: '<|START_THINKING|>', close: '<|END_THINKING|>' },
]

export function probeTemplate(template: ChatTemplate): TemplateTraits {
  const user: TemplateMessage = { role: 'user', content: 'probe-user' }
  const assistant: TemplateMessage = { role: 'assistant', content: 'probe-assistant' }
  const system: TemplateMessage = { role: 'system', content: 'probe-system' }
  const thinking = deriveThinking((messages, options) => template.render(messages, options))
  return {
    takesSystem: rendersInOrder(template, [system, user]),
    takesLateSystem: rendersInOrder(template, [user, assistant, system, { role: 'user', content: 'probe-second' }]),
    thinkingTags: thinking.tags ?? knownTags.find((tags) => template.source.includes(tags.close)) ?? null,
    thinkingSwitch: thinking.switchedBy === 'effort' ? 'never' : thinking.switchedBy,
  }
}

/** Whether every message's text appears, in the order given: a template may drop or hoist what it does not expect. */
function rendersInOrder(template: ChatTemplate, messages: readonly TemplateMessage[]): boolean {
  const text = tryRender(template, messages)
  if (text === null) return false
  let position = 0
  for (const message of messages) {
    position = text.indexOf(message.content ?? '', position)
    if (position === -1) return false
  }
  return true
}

function tryRender(template: ChatTemplate, messages: readonly TemplateMessage[]) {
  try {
    return template.render(messages, { tools: null, addGenerationPrompt: true, enableThinking: null })
  } catch {
    return null
  }
}
