import { messageOf } from '../lib/message-of.ts'
import { chooseThinkingWords, fillNames, type Filling, sayThinkingExtent, toolForms } from './fill-names.ts'
import { compileJinja, JinjaFault } from './jinja/interpreter.ts'
import { callTurn, probeTools, sentinelCalls, sentinels } from './tool-format/probes.ts'
import type { RenderProbe, TemplateToolMessage } from './tool-format/tool-format.ts'

/** A message as chat templates expect it. */
export type TemplateMessage = TemplateToolMessage

export type TemplateOptions = {
  /** Declarations in the form `{type: 'function', function: {…}}`; null where there are none. */
  readonly tools: readonly unknown[] | null
  readonly addGenerationPrompt: boolean
  /** Null leaves the template's own default. */
  readonly enableThinking: boolean | null
  /** How many tokens the model may think, where it does; null without a limit, undefined leaves the template's own default. */
  readonly thinkingTokensMax?: number | null
  /** The id that the client asked for; weights that serve under several names can then say who they are. */
  readonly servedModelName?: string
}

export interface ChatTemplate {
  readonly source: string
  /** Why not even a plain question renders, with the line where one can be told; null where it does. */
  readonly fault: string | null
  /** Throws a TemplateRefusal where the template itself raises one. */
  render(messages: readonly TemplateMessage[], options: TemplateOptions): string
  /**
   * As `render`, at a moment that is always the same. Whoever finds out what a template does compares several of these,
   * and in some templates the second in which each was made would be a difference.
   */
  readonly probe: RenderProbe
}

/** Any would do. */
const probedAt = new Date('2026-01-01T12:00:00Z')

/** The template does not accept this conversation. */
export class TemplateRefusal extends Error {
  override readonly name = 'TemplateRefusal'
}

/**
 * Compiles a model's own Jinja template. `specialTokens` are the texts a template may ask for by name.
 *
 * Conversations are passed in whichever of several shapes the template renders.
 * Throws a JinjaFault where the source is no template.
 */
export function compileChatTemplate(
  source: string,
  specialTokens: { readonly bosToken: string; readonly eosToken: string },
): ChatTemplate {
  const template = compileJinja(source)
  const render = (messages: readonly TemplateMessage[], options: GivenOptions, shape: Shape) => {
    const { tools, addGenerationPrompt, servedModelName, words, now } = options
    const variables = {
      ...fillNames(template.freeNames, { tools, now }, shape.filling),
      messages: shapeConversation(messages, shape, tools),
      add_generation_prompt: addGenerationPrompt,
      bos_token: specialTokens.bosToken,
      eos_token: specialTokens.eosToken,
      ...words,
      ...(servedModelName !== undefined && { served_model_name: servedModelName }),
      ...(tools !== null ? { tools } : shape.listsNoTools && { tools: [] }),
    }
    return template.render(variables, now)
  }
  const question = { role: 'user', content: probe } as const
  const { shape, fault } = chooseShape((tried, tools, turns = []) => {
    const options = { tools, addGenerationPrompt: turns.length === 0, words: {}, now: probedAt }
    return render([question, ...turns], options, tried)
  })
  const thinking = chooseThinkingWords(source, (words) => {
    try {
      const options = { tools: null, addGenerationPrompt: true, words, now: probedAt }
      return render([question], options, shape).split(probe).at(-1) ?? null
    } catch {
      return null
    }
  })
  const renderAt = (messages: readonly TemplateMessage[], options: TemplateOptions, now: Date) => {
    const { enableThinking, thinkingTokensMax } = options
    const words = {
      ...(enableThinking !== null && (enableThinking ? thinking.on : thinking.off)),
      ...(enableThinking === true && thinkingTokensMax !== undefined && sayThinkingExtent(thinking, thinkingTokensMax)),
    }
    try {
      return render(messages, { ...options, words, now }, shape)
    } catch (error) {
      throw new TemplateRefusal('The chat template refused the conversation.', { cause: error })
    }
  }
  return {
    source,
    fault,
    render: (messages, options) => renderAt(messages, options, new Date()),
    probe: (messages, options) => renderAt(messages, options, probedAt),
  }
}

type GivenOptions = Pick<TemplateOptions, 'tools' | 'addGenerationPrompt' | 'servedModelName'> & {
  readonly words: object
  readonly now: Date
}

const probe = 'Zuqprobe'

const probeTool = 'zuqprobetool'

type Shape = {
  /** Most templates must not see a list of tools where there are none; a few walk the list without asking for it. */
  readonly listsNoTools: boolean
  /** A few know the content of a message as a list of parts only. */
  readonly hasParts: boolean
  /** Null where the usual names are all that the template needs. */
  readonly filling: Filling | null
  /** A few write as much around an empty text beside calls as around any other, and nothing around one that is not there. */
  readonly hasNoEmptyText: boolean
  /** A few know the name and the arguments of a call as its own members only. */
  readonly hasFlatCalls: boolean
  /** Where the thinking of a turn stands: beside its text, or in it, as a part or a block of a kind of its own. */
  readonly thinkingIn: 'members' | 'parts' | 'blocks'
  /** A few want a turn with the tools, as JSON, in front of the first question. */
  readonly hasToolsTurn: boolean
}

const plainShape: Shape = {
  listsNoTools: false,
  hasParts: false,
  filling: null,
  hasNoEmptyText: false,
  hasFlatCalls: false,
  thinkingIn: 'members',
  hasToolsTurn: false,
}

type Attempt = (shape: Shape, tools: readonly unknown[] | null, turns?: readonly TemplateMessage[]) => string

/**
 * The first shape in which a question is rendered whole; without one, the commonest, and what is wrong.
 *
 * Names of the template's own are filled where it fails without, or shows no tools.
 */
function chooseShape(attempt: Attempt): { readonly shape: Shape; readonly fault: string | null } {
  const faults: string[] = []
  const rendersWith = (filling: Filling | null) =>
    shapes(filling).find((shape) => {
      const fault = faultOf(attempt, shape)
      if (fault !== null) faults.push(fault)
      return fault === null
    })
  const usual = rendersWith(null)
  if (usual !== undefined) return { shape: withTurns(attempt, withToolNames(attempt, usual)), fault: null }
  const filled = toolForms.flatMap((toolsAs) => rendersWith({ toolsAs, fills: 'all' }) ?? [])
  const shape = filled.find((one) => showsTools(attempt, one)) ?? filled[0]
  if (shape !== undefined) return { shape: withTurns(attempt, shape), fault: null }
  const withTools = { ...plainShape, hasToolsTurn: true }
  if (faultOf(attempt, withTools) === null) return { shape: withTurns(attempt, withTools), fault: null }
  return { shape: plainShape, fault: faults[0] ?? null }
}

function shapes(filling: Filling | null): Shape[] {
  return [false, true].flatMap((hasParts) =>
    [false, true].map((listsNoTools) => ({ ...plainShape, listsNoTools, hasParts, filling })),
  )
}

/** Why a question does not render; null where it does. */
function faultOf(attempt: Attempt, shape: Shape): string | null {
  try {
    return attempt(shape, null).includes(probe) ? null : 'It leaves out what the user says.'
  } catch (error) {
    return describeFault(error)
  }
}

/** A template may have a name of its own for the tools, and show none that are given by the usual one. */
function withToolNames(attempt: Attempt, shape: Shape): Shape {
  if (showsTools(attempt, shape)) return shape
  const named = toolForms.map((toolsAs): Shape => ({ ...shape, filling: { toolsAs, fills: 'tools' } }))
  return named.find((one) => showsTools(attempt, one)) ?? shape
}

/** How turns of the model are passed: their calls, their empty texts and their thinking. */
function withTurns(attempt: Attempt, shape: Shape): Shape {
  const flat = { ...shape, hasFlatCalls: true }
  const hasNoCalls = showCall(attempt, shape) === null && showCall(attempt, { ...shape, hasNoEmptyText: true }) === null
  const called = hasNoCalls && showCall(attempt, flat) !== null ? flat : shape
  return withThinking(attempt, withEmptyTexts(attempt, called))
}

/** A conversation that ends with a call; null where the template fails or leaves the call out. */
function showCall(attempt: Attempt, shape: Shape): string | null {
  for (const form of ['object', 'text'] as const) {
    try {
      const [call] = sentinelCalls({ kind: 'any' })
      const rendered = attempt(shape, probeTools, [callTurn([call], form)])
      if (rendered.lastIndexOf(call.name) > rendered.indexOf(probe)) return rendered
    } catch {
      continue
    }
  }
  return null
}

/** How an empty text beside a call is passed: as none where that leaves out what would stand around it. */
function withEmptyTexts(attempt: Attempt, shape: Shape): Shape {
  const withNone = { ...shape, hasNoEmptyText: true }
  const [given, none] = [showCall(attempt, shape), showCall(attempt, withNone)]
  const isNone = none !== null && (given === null || none.length < given.length)
  return isNone ? withNone : shape
}

/** Where a template looks for the thinking of a turn; beside the text unless it shows none that stands there. */
function withThinking(attempt: Attempt, shape: Shape): Shape {
  const shown = (['members', 'parts', 'blocks'] as const).find((thinkingIn) => {
    try {
      const { thinking, text } = sentinels
      const turn = { role: 'assistant', content: text, reasoning_content: thinking } as const
      const rendered = attempt({ ...shape, thinkingIn }, null, [turn])
      const start = rendered.indexOf(thinking)
      // A template that prints whatever it is given prints the quotes as well.
      return start !== -1 && rendered.indexOf(text, start) !== -1 && !/["']/u.test(rendered[start - 1] ?? '')
    } catch {
      return false
    }
  })
  return shown === undefined ? shape : { ...shape, thinkingIn: shown }
}

/** Whether tools are shown as they are meant to be: not as Python prints a list, and not as a text inside a text. */
function showsTools(attempt: Attempt, shape: Shape): boolean {
  const parameters = { type: 'object', properties: {}, required: [] }
  const tools = [{ type: 'function', function: { name: probeTool, description: probeTool, parameters } }]
  try {
    const shown = attempt(shape, tools)
    return (
      shown.includes(probeTool) && (shape.filling === null || !new RegExp(`['\\\\]"?${probeTool}`, 'u').test(shown))
    )
  } catch {
    return false
  }
}

/** What a template stumbled over, with the line where one can be told. */
export function describeFault(error: unknown): string {
  const line = error instanceof JinjaFault ? error.line : null
  return `${line === null ? '' : `Line ${line}: `}${messageOf(error)}`
}

function shapeConversation(
  messages: readonly TemplateMessage[],
  shape: Shape,
  tools: readonly unknown[] | null,
): object[] {
  const inContent =
    shape.thinkingIn !== 'members' && messages.some(({ reasoning_content: thinking }) => thinking !== undefined)
  const shaped = messages.map((message) => shapeMessage(message, shape, inContent))
  const toolsTurn = { role: 'functions', content: JSON.stringify(tools ?? [], null, 4) }
  return shape.hasToolsTurn ? shaped.toSpliced(messages[0]?.role === 'system' ? 1 : 0, 0, toolsTurn) : shaped
}

function shapeMessage(message: TemplateMessage, shape: Shape, inContent: boolean): object {
  const named = { ...withThinkingNames(message), ...(shape.hasFlatCalls && flatCalls(message)) }
  const { role, content } = message
  // A template that knows such contents may refuse a conversation in which other turns have another form.
  if (inContent && role === 'assistant') return { ...named, content: withThinkingInside(message, shape.thinkingIn) }
  if (shape.hasNoEmptyText && content === '' && message.tool_calls !== undefined) return { ...named, content: null }
  return shape.hasParts && content !== null ? { ...named, content: [{ type: 'text', text: content }] } : named
}

function flatCalls({ tool_calls: calls }: TemplateMessage): object {
  return calls === undefined ? {} : { tool_calls: calls.map((call) => ({ ...call, ...call.function })) }
}

function withThinkingInside({ content, reasoning_content: thinking = '' }: TemplateMessage, as: Shape['thinkingIn']) {
  const inBlocks = as === 'blocks'
  const parts = [
    ...(thinking === '' ? [] : [inBlocks ? { type: 'thoughts', text: thinking } : { type: 'thinking', thinking }]),
    ...(content === null || content === '' ? [] : [{ type: inBlocks ? 'response' : 'text', text: content }]),
  ]
  return inBlocks ? { blocks: parts } : parts
}

/** Families name the thinking of a turn differently, as they do its switch. */
function withThinkingNames(message: TemplateMessage): object {
  const { reasoning_content: thinking } = message
  return thinking === undefined ? message : { ...message, reasoning: thinking, thinking }
}
