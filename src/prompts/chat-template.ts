import { Template } from '@huggingface/jinja'

/** A message as chat templates expect it. */
export type TemplateMessage = {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
  readonly reasoning_content?: string
}

export type TemplateOptions = {
  readonly addGenerationPrompt: boolean
  /** Null leaves the template's own default. */
  readonly enableThinking: boolean | null
}

export interface ChatTemplate {
  readonly source: string
  /** Throws a TemplateRefusal where the template itself raises one. */
  render(messages: readonly TemplateMessage[], options: TemplateOptions): string
}

/** The template does not accept this conversation. */
export class TemplateRefusal extends Error {
  override readonly name = 'TemplateRefusal'
}

/** Compiles a model's own Jinja template. `specialTokens` are the texts a template may ask for by name. */
export function compileChatTemplate(
  source: string,
  specialTokens: { readonly bosToken: string; readonly eosToken: string },
): ChatTemplate {
  const template = new Template(source)
  const render = (
    messages: readonly TemplateMessage[],
    { addGenerationPrompt, enableThinking }: TemplateOptions,
    more: object,
  ) => {
    // Families name the switch differently; a template ignores the names it does not know.
    const thinking = enableThinking === null ? {} : { enable_thinking: enableThinking, thinking: enableThinking }
    return template.render({
      messages,
      add_generation_prompt: addGenerationPrompt,
      bos_token: specialTokens.bosToken,
      eos_token: specialTokens.eosToken,
      ...thinking,
      ...more,
    })
  }
  const noTools = howToSayNoTools((more) => {
    render([{ role: 'user', content: 'probe' }], { addGenerationPrompt: true, enableThinking: null }, more)
  })
  return {
    source,
    render(messages, options) {
      try {
        return render(messages, options, noTools)
      } catch (error) {
        throw new TemplateRefusal('The chat template refused the conversation.', { cause: error })
      }
    },
  }
}

/** Most templates must not see a list of tools where there are none; a few walk the list without asking for it. */
function howToSayNoTools(attempt: (more: object) => void): object {
  try {
    attempt({})
    return {}
  } catch {
    return { tools: [] }
  }
}
