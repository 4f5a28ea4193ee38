import { protectStrings } from '../client-text/protect.ts'
import { isKnown, knownNotations } from '../known/notations.ts'
import { writeSection } from './write-calls.ts'
import type { IdShape, TemplateToolCall, TemplateToolMessage, ToolFormat } from './tool-format.ts'

/**
 * Brings a conversation into the form the model's template renders without loss.
 *
 * Goes in with `arguments` as JSON text and ids of any shape; ids come out the
 * same wherever one is used again, and results stay with their calls.
 *
 * What the client wrote is protected when nothing of it is parsed any more (an escape in
 * JSON is read as the character it stands for) and nothing is written around it yet.
 */
export function toTemplateCalls(
  format: ToolFormat,
  messages: readonly TemplateToolMessage[],
  protect: (text: string) => string = (text) => text,
): TemplateToolMessage[] {
  const shapeId = createIdShaper(format.history.ids)
  const read = messages.map((message) => protectMessage(readArguments(format, message), protect))
  const split = format.callsMax === 1 ? read.flatMap((_, index) => splitCalls(read, index)) : read
  const joined = format.history.textBesideCalls === 'joined' ? joinTexts(split) : split
  const turns = format.history.toolMessages === 'none' ? joined.reduce(addWithoutTools, []) : joined
  return turns.flatMap((message) => {
    if (message.role === 'tool' && message.tool_call_id !== undefined) {
      return [{ ...message, tool_call_id: shapeId(message.tool_call_id, message.name ?? '') }]
    }
    const calls = message.tool_calls ?? []
    if (calls.length === 0) return [withoutCalls(message)]
    const shaped = calls.map((call) => ({ ...call, id: shapeId(call.id, call.function.name) }))
    return placeText(format, { ...message, tool_calls: shaped })
  })
}

/** Protects all of a message that is the client's: the role and the names of the fields are not. */
export function protectMessage(message: TemplateToolMessage, protect: (text: string) => string): TemplateToolMessage {
  const { role, content, tool_calls: calls, ...texts } = message
  return {
    role,
    content: content === null ? null : protect(content),
    ...protectMembers(texts, protect),
    ...(calls !== undefined && { tool_calls: calls.map((call) => protectCall(call, protect)) }),
  }
}

function protectCall({ id, type, function: called }: TemplateToolCall, protect: (text: string) => string) {
  return { id: protect(id), type, function: protectMembers(called, protect) }
}

/** Protects the values of an object whose keys are the format's own. */
function protectMembers<Members extends object>(members: Members, protect: (text: string) => string): Members {
  const entries = Object.entries(members) as [string, unknown][]
  return Object.fromEntries(entries.map(([key, member]) => [key, protectStrings(member, protect)])) as Members
}

function readArguments(format: ToolFormat, message: TemplateToolMessage): TemplateToolMessage {
  const { tool_calls: calls } = message
  if (calls === undefined) return message
  const read = calls.map((call) => {
    const { name, arguments: given } = call.function
    return { ...call, function: { name, arguments: shapeGiven(format, given) } }
  })
  return { ...message, tool_calls: read }
}

/** Arguments as an object, or as their own text where the template takes that. */
function shapeGiven({ history }: ToolFormat, given: object | string): object | string {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const value = parseObject(text)
  const isWritten = history.argumentsAs === 'own-notation' || history.argumentsAs === 'content'
  if (value === null) return history.takesTextArguments && !isWritten ? text : { arguments: text }
  return history.argumentsAs === 'text' && !isWritten ? text : value
}

/** Some templates take a turn with an empty list of calls for a turn with calls. */
function withoutCalls({ tool_calls: _, ...message }: TemplateToolMessage): TemplateToolMessage {
  return message
}

/** Makes a turn of each call, followed by its own results, since the template knows one call per turn. */
function splitCalls(messages: readonly TemplateToolMessage[], index: number): TemplateToolMessage[] {
  const message = messages[index]
  if (message === undefined) return []
  if (message.role === 'tool') {
    const owner = messages.slice(0, index).findLast(({ role }) => role === 'assistant')
    return (owner?.tool_calls?.length ?? 0) > 1 && owns(owner, message) ? [] : [message]
  }
  const calls = message.tool_calls ?? []
  if (calls.length < 2) return [message]
  const following = messages.slice(index + 1)
  const end = following.findIndex(({ role }) => role !== 'tool')
  const results = following.slice(0, end === -1 ? undefined : end)
  return calls.flatMap((call, position) => {
    const { reasoning_content: thinking, ...turn } = message
    const first = position === 0 && thinking !== undefined ? { reasoning_content: thinking } : {}
    const content = position === 0 ? message.content : ''
    const own = results.filter((result) => result.tool_call_id === call.id)
    return [{ ...turn, ...first, content, tool_calls: [call] }, ...own]
  })
}

function owns(turn: TemplateToolMessage | undefined, result: TemplateToolMessage): boolean {
  return turn?.tool_calls?.some(({ id }) => id === result.tool_call_id) ?? false
}

function placeText(format: ToolFormat, message: TemplateToolMessage): TemplateToolMessage[] {
  if (format.history.textBesideCalls !== 'own') return [writeTurn(format, message)]
  const text = message.content ?? ''
  const own = text === '' ? [] : [{ role: 'assistant' as const, content: text }]
  return [...own, writeTurn(format, { ...message, content: '' })]
}

/** A turn with calls in the format's notation; strings in it are protected and are only written out. */
function writeTurn(format: ToolFormat, turn: TemplateToolMessage): TemplateToolMessage {
  const { notation, history } = format
  if (isKnown(notation)) return knownNotations[notation.kind].writeTurn(turn, format)
  if (history.argumentsAs === 'content') {
    const { tool_calls: calls = [], ...plain } = turn
    return { ...plain, content: joinContent(turn.content ?? '', writeSection({ ...format, notation }, calls)) }
  }
  if (history.argumentsAs !== 'scalars-as-text') return turn
  const isDeep = notation.kind === 'tagged' && notation.parameter.itemName !== null
  return { ...turn, tool_calls: (turn.tool_calls ?? []).map((call) => withScalarsAsText(call, isDeep)) }
}

function joinContent(text: string, section: string): string {
  if (text === '') return section.trimStart()
  return /^\s/u.test(section) ? text + section : `${text}\n${section}`
}

/** Says results with the user's voice, in one turn with what the user says next: roles may have to alternate. */
function addWithoutTools(turns: TemplateToolMessage[], message: TemplateToolMessage): TemplateToolMessage[] {
  const isResult = message.role === 'tool'
  const said = isResult ? `<tool_response>\n${message.content ?? ''}\n</tool_response>` : (message.content ?? '')
  const last = turns.at(-1)
  if (last?.role === 'user' && (isResult || message.role === 'user')) {
    return [...turns.slice(0, -1), { role: 'user', content: `${last.content ?? ''}\n${said}` }]
  }
  return [...turns, isResult ? { role: 'user', content: said } : message]
}

function withScalarsAsText(call: TemplateToolCall, isDeep: boolean): TemplateToolCall {
  const { name, arguments: given } = call.function
  if (typeof given === 'string') return call
  const members = Object.entries(given).map(([key, member]) => [key, scalarAsText(member, isDeep)] as const)
  return { ...call, function: { name, arguments: Object.fromEntries(members) } }
}

/** Elements hold the scalars of lists and objects as well. */
function scalarAsText(value: unknown, isDeep: boolean): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  if (!isDeep || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item: unknown) => scalarAsText(item, isDeep))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, scalarAsText(member, isDeep)]))
}

/** The depth a request's body may have. Deeper arguments would exhaust the stack of whatever walks them, and stay text. */
const depthMax = 64

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject && isShallow(value, depthMax) ? value : null
  } catch {
    return null
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1))
}

/** Gives the same id the same shape all through one conversation. */
function createIdShaper(shape: IdShape) {
  const shaped = new Map<string, string>()
  return (id: string, name: string): string => {
    const before = shaped.get(id)
    if (before !== undefined) return before
    const after = shapeId(shape, id, { name, index: shaped.size })
    shaped.set(id, after)
    return after
  }
}

function shapeId(shape: IdShape, id: string, call: { readonly name: string; readonly index: number }): string {
  switch (shape.kind) {
    case 'any':
      return id
    case 'name-and-index':
      return `functions.${call.name}:${call.index}`
    case 'alphanumeric':
      return id.length === shape.length && /^[a-z0-9]+$/iu.test(id) ? id : digest(id, shape.length)
  }
}

/** Letters and digits that depend on every character of the text (FNV-1a, stepped on for each letter). */
function digest(text: string, length: number): string {
  const letters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
  let state = 0xcbf29ce484222325n
  const mix = (value: number) => {
    state = BigInt.asUintN(64, (state ^ BigInt(value)) * 0x100000001b3n)
  }
  for (const character of text) mix(character.codePointAt(0) ?? 0)
  return Array.from({ length }, (_, index) => {
    mix(index)
    return letters[Number((state >> 32n) % 62n)] ?? ''
  }).join('')
}

/**
 * Leaves one plain assistant turn between two turns of the user and none of the
 * texts behind: they join the answer that ends the stretch or, while there is
 * none yet, stand in front of its first call.
 */
function joinTexts(messages: readonly TemplateToolMessage[]): TemplateToolMessage[] {
  const stretches: TemplateToolMessage[][] = [[]]
  for (const message of messages) {
    if (message.role === 'user' || message.role === 'system') stretches.push([])
    stretches.at(-1)?.push(message)
  }
  return stretches.flatMap(joinStretch)
}

function joinStretch(stretch: readonly TemplateToolMessage[]): TemplateToolMessage[] {
  const speaks = (message: TemplateToolMessage) => message.role === 'assistant' && (message.content ?? '') !== ''
  if (!stretch.some((message) => speaks(message) && hasCalls(message))) return [...stretch]
  const content = stretch
    .filter(speaks)
    .map((message) => message.content ?? '')
    .join('\n\n')
  const silent = stretch.flatMap((message) => {
    if (!speaks(message)) return [message]
    return hasCalls(message) ? [{ ...message, content: '' }] : []
  })
  const last = stretch.at(-1)
  const plain = { role: 'assistant', content } as const
  if (last !== undefined && last.role === 'assistant' && !hasCalls(last)) return [...silent, plain]
  return silent.toSpliced(silent.findIndex(hasCalls), 0, plain)
}

function hasCalls(message: TemplateToolMessage): boolean {
  return (message.tool_calls?.length ?? 0) > 0
}
