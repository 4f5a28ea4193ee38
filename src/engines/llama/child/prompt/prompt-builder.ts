import { ApiError } from '../../../../core/error.ts'
import type { EngineRequest, Message, Tool } from '../../../../core/generation.ts'
import { TemplateRefusal, type ChatTemplate, type TemplateOptions } from '../../../../chat-format/chat-template.ts'
import { createControlTokens } from '../../../../chat-format/control-tokens.ts'
import type { TemplateTraits } from '../../../../chat-format/probe-template.ts'
import { shapeMessages } from '../../../../chat-format/shape-messages.ts'
import { protectSchema } from '../../../../chat-format/client-text/protect-schema.ts'
import { reserveWritten } from '../../../../chat-format/client-text/reserve-written.ts'
import { protectMessage, toTemplateCalls } from '../../../../chat-format/tool-format/to-template-calls.ts'
import type { ToolFormat } from '../../../../chat-format/tool-format/tool-format.ts'
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
  const specialTokens = reserveWritten(vocabulary.specialTokens, { template, traits, toolFormat })
  const controlTokens = createControlTokens(specialTokens, template.source)
  const { protect } = controlTokens

  async function build(request: EngineRequest, { opensThinking = false, pause }: PromptOptions = {}): Promise<Prompt> {
    const { messages, prefill } = splitPrefill(request)
    const shaped = shapeMessages(messages, traits, request.tools)
    // Behind this nothing of the client's is parsed or added, so that all of it is protected.
    const turns =
      toolFormat === null
        ? shaped.map((message) => protectMessage(message, protect))
        : toTemplateCalls(toolFormat, shaped, protect)
    const tools = request.tools.length === 0 ? null : declareTools(request.tools, protect, template.source)
    const wantsThinking = request.thinking.kind === 'on' || traits.thinkingSwitch === 'never'
    const thinks = traits.thinkingTags !== null && wantsThinking && prefill === null
    const options = { tools, addGenerationPrompt: true, enableThinking: thinks, servedModelName: request.model }
    const rendered = finishPrompt(renderOrRefuse(template, turns, options), traits, {
      thinks,
      opensThinking,
    })
    const opens = traits.thinkingTags !== null && rendered.trimEnd().endsWith(traits.thinkingTags.open)
    const pieces = controlTokens.split(rendered + protect(prefill ?? ''))
    const tokenized = await tokenizePieces(pieces, vocabulary, pause)
    const conversation = controlTokens.plain(rendered)
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

/** Declares tools as templates expect them. */
function declareTools(tools: readonly Tool[], protect: (text: string) => string, templateSource: string): unknown[] {
  return tools.map((tool) => ({
    type: 'function',
    function: {
      name: protect(tool.name),
      description: protect(tool.description),
      parameters: protectSchema(modelSchema(tool), protect, templateSource),
    },
  }))
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
