import { readFileSync } from 'node:fs'
import { compileChatTemplate, type TemplateMessage } from '../src/chat-format/chat-template.ts'
import type { Conversation } from './compose.ts'
import type { Turn } from './example.ts'

export const templateFile = new URL('template.jinja', import.meta.url)

const template = compileChatTemplate(readFileSync(templateFile, 'utf8').replaceAll('\r\n', '\n'), {
  bosToken: '<|endoftext|>',
  eosToken: '<|im_end|>',
})

/** The conversation as the service would write it into the prompt, the last answer included. */
export function render({ model, system, tools, turns }: Conversation): string {
  const messages: TemplateMessage[] = system === undefined ? [] : [{ role: 'system', content: system }]
  messages.push(...turns.map(toMessage))
  return template.render(messages, {
    tools: tools === undefined ? null : tools.map((tool) => ({ type: 'function', function: tool })),
    addGenerationPrompt: false,
    enableThinking: null,
    servedModelName: model,
  })
}

function toMessage(turn: Turn): TemplateMessage {
  if (turn.role !== 'assistant') return turn
  const { thinking, calls } = turn
  return {
    role: 'assistant',
    content: turn.content,
    ...(thinking !== undefined && { reasoning_content: thinking }),
    ...(calls !== undefined && {
      tool_calls: calls.map(({ name, arguments: values }, index) => ({
        id: `call_${index}`,
        type: 'function' as const,
        function: { name, arguments: JSON.stringify(values) },
      })),
    }),
  }
}
