import { protectStrings } from '../client-text/protect-strings.ts'
import { writeBareKeys } from '../known/bare-keys.ts'
import { writePythonic } from '../known/pythonic.ts'
import { joinTexts } from './join-texts.ts'
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
  const turns = format.history.textBesideCalls === 'joined' ? joinTexts(split) : split
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
function shapeGiven({ notation, history }: ToolFormat, given: object | string): object | string {
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const value = parseObject(text)
  const isWritten = notation.kind === 'bare-keys' || notation.kind === 'pythonic'
  if (value === null) return history.takesTextArguments && !isWritten ? text : { arguments: text }
  return history.argumentsAs === 'text' && !isWritten ? text : value
}

/** Some templates take a turn with an empty list of calls for a turn with calls. */
function withoutCalls({ tool_calls: _, ...message }: TemplateToolMessage): TemplateToolMessage {
  return message
}

/** For templates that know one call per turn: each call becomes a turn, followed by its own results. */
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
  const { notation, history } = format
  const { tool_calls: calls = [], ...turn } = message
  const text = message.content ?? ''
  if (notation.kind === 'pythonic')
    return [{ ...turn, content: [text, writePythonic(calls)].filter(Boolean).join('\n') }]
  const shaped = { ...message, tool_calls: calls.map((call) => writeArguments(format, call)) }
  if (history.textBesideCalls !== 'own') return [shaped]
  // Where the calls' own text is shown as thinking, the thinking takes its place.
  const isThinking = notation.kind === 'channels' && turn.reasoning_content !== undefined
  const content = isThinking ? (turn.reasoning_content ?? '') : ''
  const own = text === '' ? [] : [{ role: 'assistant' as const, content: text }]
  return [...own, { ...shaped, content }]
}

/** The notation of the arguments themselves; strings in them are protected and are only written out. */
function writeArguments({ notation, history }: ToolFormat, call: TemplateToolCall): TemplateToolCall {
  const { name, arguments: given } = call.function
  if (typeof given === 'string') return call
  if (notation.kind === 'bare-keys') return { ...call, function: { name, arguments: writeBareKeys(given) } }
  if (history.argumentsAs !== 'scalars-as-text') return call
  const isScalar = (member: unknown) => member === null || typeof member === 'number' || typeof member === 'boolean'
  const members = (Object.entries(given) as [string, unknown][]).map(
    ([key, member]) => [key, isScalar(member) ? JSON.stringify(member) : member] as const,
  )
  return { ...call, function: { name, arguments: Object.fromEntries(members) } }
}

/** As deep as a request's body may be; deeper ones would exhaust the stack of whatever walks them, and stay text. */
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
