import { ApiError } from '../../../core/error.ts'
import type { EngineRequest, Message } from '../../../core/generation.ts'
import { TemplateRefusal, type ChatTemplate } from '../../../prompts/chat-template.ts'
import { createControlTokens } from '../../../prompts/control-tokens.ts'
import type { TemplateTraits } from '../../../prompts/probe-template.ts'
import { shapeMessages } from '../../../prompts/shape-messages.ts'
import type { Vocabulary } from './vocabulary.ts'

export type Prompt = {
  readonly tokens: Uint32Array
  readonly thinks: boolean
  /** The prompt ends inside an open thinking block. */
  readonly startsThinking: boolean
}

export interface PromptBuilder {
  /** Renders and tokenizes. What it returns is the prompt that is counted, billed and computed. */
  build(request: EngineRequest): Prompt
}

export function createPromptBuilder(
  template: ChatTemplate,
  traits: TemplateTraits,
  vocabulary: Vocabulary,
): PromptBuilder {
  const controlTokens = createControlTokens(vocabulary.controlTokens)

  function build(request: EngineRequest): Prompt {
    const { messages, prefill } = splitPrefill(request)
    const marker = controlTokens.chooseMarker(allTexts(request.messages))
    const shaped = shapeMessages(messages, traits).map((message) => ({
      ...message,
      content: controlTokens.protect(message.content, marker),
      ...(message.reasoning_content !== undefined && {
        reasoning_content: controlTokens.protect(message.reasoning_content, marker),
      }),
    }))
    const thinks = traits.thinkingTags !== null && request.thinking.kind === 'on' && prefill === null
    const rendered = finishPrompt(renderOrRefuse(template, shaped, thinks), traits, thinks)
    const text = rendered + controlTokens.protect(prefill ?? '', marker)
    const opens = traits.thinkingTags !== null && rendered.trimEnd().endsWith(traits.thinkingTags.open)
    return { tokens: toTokens(text, marker), thinks, startsThinking: thinks && opens }
  }

  function toTokens(text: string, marker: string): Uint32Array {
    const parts = controlTokens
      .split(text, marker)
      .map((piece) => (piece.kind === 'control' ? Uint32Array.of(piece.token) : vocabulary.tokenize(piece.text)))
    const { bosToken } = vocabulary
    if (vocabulary.prependsBos && bosToken !== null && parts[0]?.[0] !== bosToken.token)
      parts.unshift(Uint32Array.of(bosToken.token))
    return concat(parts)
  }

  return { build }
}

/** A turn that is to be continued is not rendered as history: the template would close it. */
function splitPrefill(request: EngineRequest): { messages: readonly Message[]; prefill: string | null } {
  const last = request.messages.at(-1)
  if (!request.continuesFinalMessage || last?.role !== 'assistant') return { messages: request.messages, prefill: null }
  const texts = last.content.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
  return { messages: request.messages.slice(0, -1), prefill: texts.join('\n') }
}

function renderOrRefuse(
  template: ChatTemplate,
  messages: Parameters<ChatTemplate['render']>[0],
  thinks: boolean,
): string {
  try {
    return template.render(messages, { addGenerationPrompt: true, enableThinking: thinks })
  } catch (error) {
    if (!(error instanceof TemplateRefusal)) throw error
    const reason = { code: 'invalid-request', path: ['messages'], fault: 'value' } as const
    throw new ApiError(reason, 'The model does not accept this sequence of messages.', { cause: error })
  }
}

/** A template without a switch leaves thinking to the model; an empty block says that there is to be none. */
function finishPrompt(rendered: string, traits: TemplateTraits, thinks: boolean): string {
  if (traits.thinkingTags === null || thinks || traits.hasThinkingSwitch) return rendered
  const { open, close } = traits.thinkingTags
  const opened = rendered.trimEnd().endsWith(open) ? rendered.trimEnd() : rendered + open
  return `${opened}\n\n${close}\n\n`
}

function allTexts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) => content.flatMap((block) => ('text' in block ? [block.text] : [])))
}

function concat(parts: readonly Uint32Array[]): Uint32Array {
  const tokens = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let offset = 0
  for (const part of parts) {
    tokens.set(part, offset)
    offset += part.length
  }
  return tokens
}
