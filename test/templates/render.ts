import { compileChatTemplate } from '../../src/chat-format/chat-template.ts'
import type { RenderProbe } from '../../src/chat-format/tool-format/tool-format.ts'

/** Renders with a template the way the service does. */
export function renderWith(source: string): RenderProbe {
  const template = compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' })
  return (messages, options) => template.render(messages, options)
}
