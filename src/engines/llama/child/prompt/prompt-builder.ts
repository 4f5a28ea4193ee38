import { ApiError } from '../../../../core/error.ts'
import type { EngineRequest, Message, Tool } from '../../../../core/generation.ts'
import { TemplateRefusal, type ChatTemplate, type TemplateOptions } from '../../../../prompts/chat-template.ts'
import { createControlTokens } from '../../../../prompts/control-tokens.ts'
import type { TemplateTraits } from '../../../../prompts/probe-template.ts'
import { shapeMessages } from '../../../../prompts/shape-messages.ts'
import { toTemplateCalls } from '../../../../prompts/tool-format/to-template-calls.ts'
import type { TemplateToolCall, ToolFormat } from '../../../../prompts/tool-format/tool-format.ts'
import type { Breakpoint, Prompt } from '../../prepared-text.ts'
import { blocksOf, locateBlocks, type LocatedBlock } from './prompt-outline.ts'
import { tokenizePieces, type Pause } from './prompt-tokens.ts'
import type { TokensBefore } from './tokens-up-to.ts'
import { modelSchema } from '../answer/tool-rules.ts'
import type { Vocabulary } from '../vocabulary.ts'

export interface PromptBuilder {
  /**
   * Renders and tokenizes. What it returns is the prompt that is counted, billed and computed.
   *
   * A long text is tokenized in parts with pauses between them, so that running answers go on.
   */
  build(request: EngineRequest, options?: PromptOptions): Promise<Prompt>
}

export type PromptOptions = {
  /** Begins thinking where the template leaves that to the model: a grammar has to know where thinking ends. */
  readonly opensThinking?: boolean
  /** Runs now and then while a long text is tokenized, is told of the tokens so far, and throws to end it. */
  readonly pause?: Pause
}

export type PromptParts = {
  readonly template: ChatTemplate
  readonly traits: TemplateTraits
  /** Null where the template cannot carry calls. */
  readonly toolFormat: ToolFormat | null
  readonly vocabulary: Vocabulary
}

export function createPromptBuilder({ template, traits, toolFormat, vocabulary }: PromptParts): PromptBuilder {
  const controlTokens = createControlTokens(vocabulary.specialTokens)

  async function build(request: EngineRequest, { opensThinking = false, pause }: PromptOptions = {}): Promise<Prompt> {
    const { messages, prefill } = splitPrefill(request)
    const marker = controlTokens.chooseMarker([JSON.stringify(request.tools), ...allTexts(request.messages)])
    const protect = (text: string) => controlTokens.protect(text, marker)
    const shaped = shapeMessages(messages, traits, request.tools).map((message) => protectMessage(message, protect))
    const turns = toolFormat === null ? shaped : toTemplateCalls(toolFormat, shaped)
    const tools = request.tools.length === 0 ? null : declareTools(request.tools, protect)
    const wantsThinking = request.thinking.kind === 'on' || traits.thinkingSwitch === 'never'
    const thinks = traits.thinkingTags !== null && wantsThinking && prefill === null
    const options = { tools, addGenerationPrompt: true, enableThinking: thinks, servedModelName: request.model }
    const rendered = finishPrompt(renderOrRefuse(template, turns, options), traits, {
      thinks,
      opensThinking,
    })
    const opens = traits.thinkingTags !== null && rendered.trimEnd().endsWith(traits.thinkingTags.open)
    const pieces = controlTokens.split(rendered + protect(prefill ?? ''), marker)
    const tokenized = await tokenizePieces(pieces, vocabulary, pause)
    const conversation = rendered.replaceAll(marker, '')
    const blocks = locateBlocks(conversation, blocksOf({ tools: request.tools, messages }))
    const ends = tokenized.tokensUpTo(blocks.map(({ end }) => end))
    const toContinue = { label: `assistant message ${request.messages.length}`, endToken: tokenized.tokens.length }
    const labelled = blocks.map(({ label }, index) => ({ label, endToken: ends[index]?.begun ?? 0 }))
    return {
      tokens: tokenized.tokens,
      thinks,
      startsThinking: thinks && opens,
      breakpoints: toBreakpoints(blocks, ends),
      conversationLength: ends.at(-1)?.whole ?? 0,
      blocks: prefill === null ? labelled : [...labelled, toContinue],
    }
  }

  return { build }
}

const lifetimesMs = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const

function toBreakpoints(blocks: readonly LocatedBlock[], ends: readonly TokensBefore[]): Breakpoint[] {
  return blocks.flatMap(({ lifetime }, index) => {
    const length = ends[index]?.whole ?? 0
    return lifetime === null || length === 0 ? [] : [{ length, lifetimeMs: lifetimesMs[lifetime] }]
  })
}

/** The part of the request that a token belongs to. */
export function describeToken({ blocks }: Pick<Prompt, 'blocks'>, token: number): string {
  return blocks.find(({ endToken }) => endToken > token)?.label ?? 'the markup at the end'
}

type TemplateMessages = Parameters<ChatTemplate['render']>[0]

function protectMessage(
  message: TemplateMessages[number],
  protect: (text: string) => string,
): TemplateMessages[number] {
  const { content, reasoning_content: thinking, tool_calls: calls } = message
  return {
    ...message,
    content: content === null ? null : protect(content),
    ...(thinking !== undefined && { reasoning_content: protect(thinking) }),
    ...(calls !== undefined && { tool_calls: calls.map((call) => protectCall(call, protect)) }),
  }
}

function protectCall(call: TemplateToolCall, protect: (text: string) => string): TemplateToolCall {
  const { arguments: text } = call.function
  return { ...call, function: { ...call.function, arguments: typeof text === 'string' ? protect(text) : text } }
}

/** Declares tools as templates expect them. No special token has a character that JSON escapes. */
function declareTools(tools: readonly Tool[], protect: (text: string) => string): unknown[] {
  const declared = tools.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: modelSchema(tool) },
  }))
  return JSON.parse(protect(JSON.stringify(declared))) as unknown[]
}

/** A turn that is to be continued is not rendered as history: the template would close it. */
function splitPrefill(request: EngineRequest): { messages: readonly Message[]; prefill: string | null } {
  const last = request.messages.at(-1)
  if (!request.continuesFinalMessage || last?.role !== 'assistant') return { messages: request.messages, prefill: null }
  const texts = last.content.flatMap((block) => (block.kind === 'text' ? [block.text] : []))
  return { messages: request.messages.slice(0, -1), prefill: texts.join('\n') }
}

function renderOrRefuse(template: ChatTemplate, messages: TemplateMessages, options: TemplateOptions): string {
  try {
    return template.render(messages, options)
  } catch (error) {
    if (!(error instanceof TemplateRefusal)) throw error
    const reason = { code: 'invalid-request', path: ['messages'], fault: 'value' } as const
    throw new ApiError(reason, 'The model does not accept this sequence of messages.', { cause: error })
  }
}

/** A template without a switch leaves thinking to the model; an empty block says that there is to be none. */
function finishPrompt(
  rendered: string,
  { thinkingTags, thinkingSwitch }: TemplateTraits,
  { thinks, opensThinking }: { readonly thinks: boolean; readonly opensThinking: boolean },
): string {
  if (thinkingTags === null) return rendered
  const { open, close } = thinkingTags
  const isOpen = rendered.trimEnd().endsWith(open)
  if (thinks) return opensThinking && !isOpen ? `${rendered}${open}\n` : rendered
  if (thinkingSwitch === 'flag') return rendered
  return `${isOpen ? rendered.trimEnd() : rendered + open}\n\n${close}\n\n`
}

function allTexts(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      if ('text' in block) return [block.text]
      if (block.kind === 'tool-call') return [block.arguments]
      if (block.kind !== 'tool-result') return []
      return block.content.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    }),
  )
}
