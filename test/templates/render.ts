import { Template } from '@huggingface/jinja'
import { rewriteListMethods } from '../../src/chat-format/tool-format/rewrite-list-methods.ts'
import type { RenderProbe } from '../../src/chat-format/tool-format/tool-format.ts'

/** Renders with a template the way the service does. */
export function renderWith(source: string): RenderProbe {
  const template = new Template(rewriteListMethods(source))
  return (messages, { tools, addGenerationPrompt, enableThinking }) =>
    template.render({
      messages,
      ...(tools !== null && { tools }),
      ...(enableThinking !== null && { enable_thinking: enableThinking, thinking: enableThinking }),
      add_generation_prompt: addGenerationPrompt,
      bos_token: '<s>',
      eos_token: '</s>',
    })
}
