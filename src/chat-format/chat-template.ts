import { Template } from '@huggingface/jinja'
import { rewriteListMethods } from './tool-format/rewrite-list-methods.ts'
import type { TemplateToolMessage } from './tool-format/tool-format.ts'

/** A message as chat templates expect it. */
export type TemplateMessage = TemplateToolMessage

export type TemplateOptions = {
  /** Declarations in the form `{type: 'function', function: {…}}`; null where there are none. */
  readonly tools: readonly unknown[] | null
  readonly addGenerationPrompt: boolean
  /** Null leaves the template's own default. */
  readonly enableThinking: boolean | null
  /** The id that the client asked for; weights that serve under several names can then say who they are. */
  readonly servedModelName?: string
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
  const template = new Template(rewriteListMethods(source))
  const render = (messages: readonly TemplateMessage[], options: TemplateOptions, noTools: object) => {
    const { tools, addGenerationPrompt, enableThinking, servedModelName } = options
    // Families name the switch differently; a template ignores the names it does not know.
    const thinking = enableThinking === null ? {} : { enable_thinking: enableThinking, thinking: enableThinking }
    return template.render({
      messages,
      add_generation_prompt: addGenerationPrompt,
      bos_token: specialTokens.bosToken,
      eos_token: specialTokens.eosToken,
      ...thinking,
      ...(servedModelName !== undefined && { served_model_name: servedModelName }),
      ...(tools === null ? noTools : { tools }),
    })
  }
  const noTools = howToSayNoTools((more) => {
    const options = { tools: null, addGenerationPrompt: true, enableThinking: null }
    render([{ role: 'user', content: 'probe' }], options, more)
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
