import { ApiError } from '../../../core/error.ts'
import type { EngineRequest, JsonSchema, Message, Tool } from '../../../core/generation.ts'
import { TemplateRefusal, type ChatTemplate, type TemplateMessage } from '../../../chat-format/chat-template.ts'
import { createControlTokens } from '../../../chat-format/control-tokens.ts'
import type { TemplateTraits } from '../../../chat-format/probe-template.ts'
import { shapeMessages, plainSchema, withProperties } from '../../../chat-format/shape-messages.ts'
import { protectSchema } from '../../../chat-format/client-text/protect.ts'
import { reserveWritten } from '../../../chat-format/client-text/reserve-written.ts'
import { describeTools } from '../../../chat-format/tool-format/generic-tools.ts'
import { findSwitchWords } from '../../../chat-format/tool-format/switch-words.ts'
import { protectMessage, toTemplateCalls } from '../../../chat-format/tool-format/to-template-calls.ts'
import type { ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import type { Breakpoint, Prompt } from '../prepared-text.ts'
import { blocksOf, locateBlocks, type LocatedBlock } from './prompt-outline.ts'
import type { PieceMemory } from './piece-memory.ts'
import { tokenizePieces, type Pause } from './prompt-tokens.ts'
import type { TokensBefore } from './tokens-up-to.ts'
import { modelSchema } from '../answer/answer-plan.ts'
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
  /** Finds again what was tokenized before; without it nothing is remembered. */
  readonly memory?: PieceMemory | null
}

export function createPromptBuilder({ template, traits, toolFormat, ...parts }: PromptParts): PromptBuilder {
  const { vocabulary, memory } = parts
  const specialTokens = reserveWritten(vocabulary.specialTokens, { template, traits, toolFormat })
  const controlTokens = createControlTokens(specialTokens, template.source)
  const { protect } = controlTokens
  const render = createRenderer({ template, traits, toolFormat, protect })

  async function build(request: EngineRequest, { opensThinking = false, pause }: PromptOptions = {}): Promise<Prompt> {
    const { messages, prefill } = splitPrefill(request)
    const wantsThinking = request.thinking.kind === 'on' || traits.thinkingSwitch === 'never'
    const thinks = traits.thinkingTags !== null && wantsThinking && prefill === null
    const shown = render(request, messages, thinks)
    const rendered = finishPrompt(shown, traits, { thinks, opensThinking })
    const opens = traits.thinkingTags !== null && rendered.trimEnd().endsWith(traits.thinkingTags.open)
    const begun = prefill === null ? '' : textOpening(toolFormat) + protect(prefill)
    const pieces = controlTokens.split(rendered + begun)
    const remembering = memory?.remembering(vocabulary, request.owner.organizationId) ?? vocabulary
    const tokenized = await tokenizePieces(pieces, remembering, pause)
    const conversation = begun === '' ? controlTokens.join(pieces) : controlTokens.plain(rendered)
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

type RendererParts = Omit<PromptParts, 'vocabulary' | 'memory'> & { protect(text: string): string }

/** Renders a request's conversation, its tools declared in whichever way the template takes. */
function createRenderer({ template, traits, toolFormat, protect }: RendererParts) {
  const switchWords = findSwitchWords(template.source)

  /** The conversation and the declarations in the form that the template wants. */
  function showTools({ tools: given }: EngineRequest, messages: readonly Message[], as: 'declared' | 'described') {
    const describing = given.length > 0 && as === 'described' ? toolFormat : null
    const shaped = shapeMessages(describing === null ? messages : [toolsSlot, ...messages], traits, given)
    // Behind this nothing of the client's is parsed or added, so that all of it is protected.
    const turns =
      toolFormat === null
        ? shaped.map((message) => protectMessage(message, protect))
        : toTemplateCalls(toolFormat, shaped, protect)
    if (given.length === 0) return { turns, tools: null }
    if (describing === null) return { turns, tools: declareTools(given, protect, template.source) }
    const declared = declareTools(given, (text) => switchWords.mark(protect(text)), template.source)
    const functions = declared.map((tool) => tool.function)
    return { turns: describeInFirst(turns, switchWords.spell(describeTools(functions, describing))), tools: null }
  }

  /** A template may fail on what a tool's schema says: it is then said in plainer words, and at last in the system text. */
  function render(request: EngineRequest, messages: readonly Message[], enableThinking: boolean): string {
    // One that cannot be told to stop thinking is told to think little.
    const thinkingTokensMax = request.thinking.kind === 'on' ? request.thinking.tokensMax : 0
    const common = { addGenerationPrompt: true, enableThinking, thinkingTokensMax, servedModelName: request.model }
    const renderWith = ({ turns, tools }: ReturnType<typeof showTools>) => template.render(turns, { ...common, tools })
    const described = () => renderWith(showTools(request, messages, 'described'))
    if (toolFormat?.showsTools === false) return firstRendered([described])
    const declared = showTools(request, messages, 'declared')
    if (declared.tools === null) return firstRendered([() => renderWith(declared)])
    const plain = () => declareTools(request.tools, protect, template.source, plainSchema)
    const spelledPlainly = () => renderWith({ ...declared, tools: plain() })
    return firstRendered([() => renderWith(declared), spelledPlainly, ...(toolFormat === null ? [] : [described])])
  }

  return render
}

/** What a plain answer begins with and the template leaves to the model. */
function textOpening(format: ToolFormat | null): string {
  return format?.textOpen.slice(format.lead.length) ?? ''
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

/** Opens the conversation where the system text is to describe the tools. */
const toolsMark = '\u0001'
const toolsSlot: Message = { role: 'system', content: [{ kind: 'text', text: toolsMark }] }

/** Puts the description where it belongs, whose parts are protected each: a template may look for a word in a whole text. */
function describeInFirst([first, ...others]: readonly TemplateMessage[], description: string) {
  if (first === undefined) return others
  return [{ ...first, content: (first.content ?? '').replace(toolsMark, () => description) }, ...others]
}

type Declared = {
  readonly type: 'function'
  readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** Declares tools as templates expect them. */
function declareTools(
  tools: readonly Tool[],
  protect: (text: string) => string,
  templateSource: string,
  spell: (schema: JsonSchema) => JsonSchema = (schema) => schema,
): Declared[] {
  return tools.map((tool) => ({
    type: 'function',
    function: {
      name: protect(tool.name),
      description: protect(tool.description),
      parameters: protectSchema(withProperties(spell(modelSchema(tool))), protect, templateSource),
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

/** The first of several ways to say the same that the template takes; what it refuses in every way is the client's error. */
function firstRendered(ways: readonly (() => string)[]): string {
  let refused: TemplateRefusal | null = null
  for (const way of ways) {
    try {
      return way()
    } catch (error) {
      if (!(error instanceof TemplateRefusal)) throw error
      refused ??= error
    }
  }
  throw refusal(refused)
}

function refusal(cause: TemplateRefusal | null): ApiError {
  const reason = { code: 'invalid-request', path: ['messages'], fault: 'value' } as const
  return new ApiError(reason, 'The model does not accept this sequence of messages.', { cause })
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
