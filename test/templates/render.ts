import { compileChatTemplate } from '../../src/chat-format/chat-template.ts'
import type { RenderProbe, ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'

/** Renders with a template the way the service does. */
export function renderWith(source: string): RenderProbe {
  return compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' }).probe
}

/** As the service renders in a format: in the generic one the template is not shown the tools, which some fail on. */
export function renderIn(format: ToolFormat, render: RenderProbe): RenderProbe {
  return format.isGeneric ? (messages, options) => render(messages, { ...options, tools: null }) : render
}

/** What a template tells the model at the end of each conversation, whoever spoke last: marked, and in words. */
export function instructionsIn(conversations: readonly [string, string, string]): string {
  const [first, ...others] = conversations
  const starts = [...first.matchAll(/</gu)].map(({ index }) => first.slice(index))
  return starts.find((one) => /(?:\p{L}+ ){3}/u.test(one) && others.every((other) => other.endsWith(one))) ?? ''
}
