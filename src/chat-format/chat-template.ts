import { messageOf } from '../lib/message-of.ts'
import { fillNames, type Filling, toolForms } from './fill-names.ts'
import { compileJinja, JinjaFault } from './jinja/interpreter.ts'
import { callTurn, probeTools, sentinelCalls } from './tool-format/probes.ts'
import type { TemplateToolMessage } from './tool-format/tool-format.ts'

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
}

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
  const render = (messages: readonly TemplateMessage[], options: TemplateOptions, shape: Shape) => {
    const { tools, addGenerationPrompt, enableThinking, thinkingTokensMax, servedModelName } = options
    return template.render({
      ...fillNames(template.freeNames, tools, shape.filling),
      messages: messages.map((message) => shapeMessage(message, shape)),
      add_generation_prompt: addGenerationPrompt,
      bos_token: specialTokens.bosToken,
      eos_token: specialTokens.eosToken,
      ...(enableThinking !== null && thinkingSwitches(enableThinking, source)),
      ...(enableThinking === true && thinkingTokensMax !== undefined && thinkingExtent(thinkingTokensMax, source)),
      ...(servedModelName !== undefined && { served_model_name: servedModelName }),
      ...(tools !== null ? { tools } : shape.listsNoTools && { tools: [] }),
    })
  }
  const { shape, fault } = chooseShape((tried, tools, turns = []) => {
    const options = { tools, addGenerationPrompt: turns.length === 0, enableThinking: null }
    return render([{ role: 'user', content: probe }, ...turns], options, tried)
  })
  return {
    source,
    fault,
    render(messages, options) {
      try {
        return render(messages, options, shape)
      } catch (error) {
        throw new TemplateRefusal('The chat template refused the conversation.', { cause: error })
      }
    },
  }
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
}

const plainShape: Shape = { listsNoTools: false, hasParts: false, filling: null, hasNoEmptyText: false }

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
  if (usual !== undefined) return { shape: withEmptyTexts(attempt, withToolNames(attempt, usual)), fault: null }
  const filled = toolForms.flatMap((toolsAs) => rendersWith({ toolsAs, fills: 'all' }) ?? [])
  const shape = filled.find((one) => showsTools(attempt, one)) ?? filled[0]
  if (shape !== undefined) return { shape: withEmptyTexts(attempt, shape), fault: null }
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

/** How an empty text beside a call is passed: as none where that leaves out what would stand around it. */
function withEmptyTexts(attempt: Attempt, shape: Shape): Shape {
  const shown = (hasNoEmptyText: boolean): string | null => {
    for (const form of ['object', 'text'] as const) {
      try {
        const [call] = sentinelCalls({ kind: 'any' })
        const rendered = attempt({ ...shape, hasNoEmptyText }, probeTools, [callTurn([call], form)])
        if (rendered.lastIndexOf(call.name) > rendered.indexOf(probe)) return rendered
      } catch {
        continue
      }
    }
    return null
  }
  const [given, none] = [shown(false), shown(true)]
  const isNone = none !== null && (given === null || none.length < given.length)
  return isNone ? { ...shape, hasNoEmptyText: true } : shape
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

function shapeMessage(message: TemplateMessage, { hasParts, hasNoEmptyText }: Shape): object {
  const named = withThinkingNames(message)
  const { content } = message
  if (hasNoEmptyText && content === '' && message.tool_calls !== undefined) return { ...named, content: null }
  return hasParts && content !== null ? { ...named, content: [{ type: 'text', text: content }] } : named
}

/** Families name the switch differently; a template ignores the names it does not know. */
function thinkingSwitches(isOn: boolean, source: string): object {
  const names = { enable_thinking: isOn, thinking: isOn, reasoning: isOn, thinking_mode: isOn ? 'enabled' : 'disabled' }
  if (isOn) return names
  // Other templates would show this effort to the model as if it had learned of it.
  const knowsNoEffort = /reasoning_effort[^%}]*["']none["']/u.test(source)
  return { ...names, thinking_budget: 0, ...(knowsNoEffort && { reasoning_effort: 'none' }) }
}

/** The extent of thinking in the words that templates have for it: a number of tokens, or an effort. */
function thinkingExtent(tokensMax: number | null, source: string): object {
  const effort = tokensMax === null || tokensMax > mediumTokens ? 'high' : tokensMax > lowTokens ? 'medium' : 'low'
  return {
    ...(tokensMax !== null && { thinking_budget: tokensMax }),
    ...(source.includes('reasoning_effort') && { reasoning_effort: effort }),
  }
}

/** What the efforts of these names mean to most models that are served. */
const lowTokens = 1_024
const mediumTokens = 8_192

/** Families name the thinking of a turn differently, as they do its switch. */
function withThinkingNames(message: TemplateMessage): object {
  const { reasoning_content: thinking } = message
  return thinking === undefined ? message : { ...message, reasoning: thinking, thinking }
}
