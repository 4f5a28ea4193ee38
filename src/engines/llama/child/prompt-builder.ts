import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../../core/error.ts'
import type { EngineRequest, Message } from '../../../core/generation.ts'
import { TemplateRefusal, type ChatTemplate } from '../../../prompts/chat-template.ts'
import { createControlTokens, type PromptPiece } from '../../../prompts/control-tokens.ts'
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
  /**
   * Renders and tokenizes. What it returns is the prompt that is counted, billed and computed.
   *
   * A long text is tokenized in parts with pauses between them, so that running answers go on.
   */
  build(request: EngineRequest): Promise<Prompt>
}

export function createPromptBuilder(
  template: ChatTemplate,
  traits: TemplateTraits,
  vocabulary: Vocabulary,
): PromptBuilder {
  const controlTokens = createControlTokens(vocabulary.specialTokens)

  async function build(request: EngineRequest): Promise<Prompt> {
    const { messages, prefill } = splitPrefill(request)
    const marker = controlTokens.chooseMarker(allTexts(request.messages))
    const protect = (text: string) => controlTokens.protect(text, marker)
    const shaped = shapeMessages(messages, traits).map((message) => protectMessage(message, protect))
    const thinks = traits.thinkingTags !== null && request.thinking.kind === 'on' && prefill === null
    const rendered = finishPrompt(renderOrRefuse(template, shaped, thinks), traits, thinks)
    const opens = traits.thinkingTags !== null && rendered.trimEnd().endsWith(traits.thinkingTags.open)
    const tokens = await toTokens(controlTokens.split(rendered + protect(prefill ?? ''), marker), vocabulary)
    return { tokens, thinks, startsThinking: thinks && opens }
  }

  return { build }
}

type TemplateMessages = Parameters<ChatTemplate['render']>[0]

function protectMessage(
  message: TemplateMessages[number],
  protect: (text: string) => string,
): TemplateMessages[number] {
  const { content, reasoning_content: thinking } = message
  return {
    ...message,
    content: protect(content),
    ...(thinking !== undefined && { reasoning_content: protect(thinking) }),
  }
}

/** Of the slowest text measured this takes 30 ms. */
const partCharactersMax = 65_536

async function toTokens(pieces: readonly PromptPiece[], vocabulary: Vocabulary): Promise<Uint32Array> {
  const parts: Uint32Array[] = []
  let sincePause = 0
  for (const piece of pieces) {
    if (piece.kind === 'special') {
      parts.push(Uint32Array.of(piece.token))
      continue
    }
    for (const text of vocabulary.cutsBetweenWords ? cutBetweenWords(piece.text) : [piece.text]) {
      parts.push(vocabulary.tokenize(text))
      sincePause += text.length
      if (sincePause < partCharactersMax) continue
      sincePause = 0
      await setImmediate()
    }
  }
  const { bosToken } = vocabulary
  if (vocabulary.prependsBos && bosToken !== null && parts[0]?.[0] !== bosToken.token) {
    parts.unshift(Uint32Array.of(bosToken.token))
  }
  return concat(parts)
}

/** Cuts before a space between two letters; where there is none, the text stays whole. */
function* cutBetweenWords(text: string): Generator<string> {
  let start = 0
  while (text.length - start > partCharactersMax) {
    const border = /\p{L} \p{L}/gu
    border.lastIndex = start + partCharactersMax
    const match = border.exec(text)
    if (match === null) break
    const end = match.index + match[0].indexOf(' ')
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

/** A turn that is to be continued is not rendered as history: the template would close it. */
function splitPrefill(request: EngineRequest): { messages: readonly Message[]; prefill: string | null } {
  const last = request.messages.at(-1)
  if (!request.continuesFinalMessage || last?.role !== 'assistant') return { messages: request.messages, prefill: null }
  const texts = last.content.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
  return { messages: request.messages.slice(0, -1), prefill: texts.join('\n') }
}

function renderOrRefuse(template: ChatTemplate, messages: TemplateMessages, thinks: boolean): string {
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
