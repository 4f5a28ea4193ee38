// What is asked of a server that takes messages, and what its answer is held to before anybody gets to see it.

import { shapeMessages } from '../../../chat-format/shape-messages.ts'
import type { TemplateMessage } from '../../../chat-format/chat-template.ts'
import { invalidRequest, type ErrorPath } from '../../../core/error.ts'
import type { EngineRequest, JsonSchema } from '../../../core/generation.ts'
import { createValueCheck, type ValueCheck } from '../../../grammar/check-value.ts'
import { SchemaFault } from '../../../grammar/schema-fault.ts'
import { callableTools, modelSchema, refuseSchema, requiresCall } from '../../text/answer/answer-plan.ts'
import type { MessageFacts, MessageRequest, MessageTool } from './message-dialect.ts'

/** The part of a request to a server that depends on what the answer is to be. */
export type Form = Pick<MessageRequest, 'messages' | 'tools' | 'toolChoice' | 'parallelCalls' | 'format'> & {
  /** The answer's text is the arguments of a call, or names it too; null where its text is text. */
  readonly writesCall: 'arguments' | 'call' | null
  /** The tool whose arguments it writes, where that is settled. */
  readonly tool: string | null
}

export type Call = { readonly name: string; readonly arguments: string }

/** What an answer turned out to be. */
export type Judgement =
  | { readonly kind: 'good' }
  /** The call with this number cannot be handed on, or there is none although one was asked for. */
  | { readonly kind: 'bad-call'; readonly number: number; readonly tool: string | null; readonly why: string }
  | { readonly kind: 'bad-json'; readonly why: string }

const systemTraits = { takesSystem: true, takesLateSystem: true }

export class ReportedPlan {
  /** Where in the request's schemas keywords stand that the answer is not held to. */
  readonly unenforced: readonly ErrorPath[]
  /** Nothing of the answer's text may be handed on before all of it is there. */
  readonly holdsText: boolean
  readonly #request: EngineRequest
  readonly #messages: readonly TemplateMessage[]
  readonly #tools: readonly MessageTool[]
  readonly #checks = new Map<string, ValueCheck>()
  readonly #output: ValueCheck | null
  readonly #isCallForced: boolean

  /** Throws `invalid-request` for what such a server cannot be asked for. */
  constructor(request: EngineRequest) {
    if (request.continuesFinalMessage)
      throw invalidRequest(['messages'], 'unsupported-value', 'The model does not continue an answer that was begun.')
    const { output } = request
    const unenforced: ErrorPath[] = []
    const check = (schema: JsonSchema, { schemaPath, isStrict }: SchemaPlace) => {
      const made = checkOf(schema, { schemaPath, isStrict })
      unenforced.push(...made.unenforced.map((path) => [...schemaPath, ...path]))
      return made
    }
    const tools = callableTools(request)
    for (const tool of tools) this.#checks.set(tool.name, check(modelSchema(tool), tool))
    this.#output = output.kind === 'json' && output.schema !== null ? check(output.schema, output) : null
    this.#request = request
    this.#messages = shapeMessages(request.messages, systemTraits, request.tools)
    this.#tools = tools.map((tool) => {
      return { name: tool.name, description: tool.description, parameters: modelSchema(tool) }
    })
    this.#isCallForced = tools.length > 0 && requiresCall(request)
    this.holdsText = this.#isCallForced || output.kind === 'json'
    this.unenforced = unenforced
  }

  /** What is asked for first. */
  first({ takes }: MessageFacts): Form {
    const { toolChoice, output } = this.#request
    if (this.#isCallForced && !takes.toolChoice) return this.#callForm(null)
    const format = output.kind === 'json' ? (output.schema ?? 'object') : null
    const mayCall = this.#tools.length > 0 && takes.tools
    const forced = toolChoice.kind === 'named' ? { name: toolChoice.name } : ('required' as const)
    return {
      messages: format === null || (takes.schema && !mayCall) ? this.#messages : this.#told(jsonInWords(format)),
      tools: mayCall ? this.#tools : [],
      toolChoice: this.#isCallForced ? forced : 'auto',
      parallelCalls: toolChoice.parallel,
      // Engines take one of the two; with tools the answer is looked at afterwards.
      format: mayCall ? null : format,
      writesCall: null,
      tool: null,
    }
  }

  /** What is asked for where the first answer cannot be handed on: nothing but what was wrong with it, by its schema. */
  constrained(judgement: Exclude<Judgement, { kind: 'good' }>): Form {
    const { output } = this.#request
    if (judgement.kind === 'bad-call' && this.#tools.length > 0) return this.#callForm(judgement.tool)
    if (output.kind === 'text') return { ...this.#plain(null), format: null, writesCall: null, tool: null }
    const format = output.kind === 'json' && output.schema !== null ? output.schema : ('object' as const)
    return { ...this.#plain(jsonInWords(format)), format, writesCall: null, tool: null }
  }

  /** Looks at a whole answer. */
  judge(text: string, calls: readonly Call[]): Judgement {
    for (const [number, call] of calls.entries()) {
      const why = number > 0 && !this.#request.toolChoice.parallel ? 'it is one too many' : this.#faultOf(call)
      const tool = this.#checks.has(call.name) ? call.name : null
      if (why !== null) return { kind: 'bad-call', number, tool, why }
    }
    if (this.#isCallForced && calls.length === 0)
      return { kind: 'bad-call', number: 0, tool: null, why: 'there is no call' }
    return this.#request.output.kind !== 'json' || calls.length > 0 ? { kind: 'good' } : this.#judgeJson(text)
  }

  #judgeJson(text: string): Judgement {
    const value = parse(text)
    if (value === undefined) return { kind: 'bad-json', why: 'it is no JSON' }
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (this.#output === null) return isObject ? { kind: 'good' } : { kind: 'bad-json', why: 'it is no object' }
    const fault = this.#output.check(value)
    return fault === null ? { kind: 'good' } : { kind: 'bad-json', why: `it does not keep ${fault.keyword}` }
  }

  /** The call that an answer in JSON stands for. */
  callOf({ writesCall, tool }: Form, text: string): Call | null {
    if (writesCall === 'arguments' && tool !== null) return { name: tool, arguments: text.trim() }
    const value = parse(text)
    if (typeof value !== 'object' || value === null || !('name' in value) || !('arguments' in value)) return null
    return typeof value.name === 'string' ? { name: value.name, arguments: JSON.stringify(value.arguments) } : null
  }

  /** The arguments as the client is to have them: those of a tool of free text are its text. */
  argumentsFor({ name, arguments: text }: Call): string {
    const tool = this.#request.tools.find((one) => one.name === name)
    if (tool?.input !== 'text') return text
    const { input } = parse(text) as { readonly input: string }
    return input
  }

  #faultOf({ name, arguments: text }: Call): string | null {
    const check = this.#checks.get(name)
    if (check === undefined) return 'there is no such tool'
    const value = parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'its arguments are no object'
    const fault = check.check(value)
    return fault === null ? null : `its arguments do not keep ${fault.keyword}`
  }

  #callForm(name: string | null): Form {
    const { toolChoice } = this.#request
    const wanted = name ?? (toolChoice.kind === 'named' ? toolChoice.name : null)
    const tools = this.#tools.filter((tool) => wanted === null || tool.name === wanted)
    const [only] = tools
    const isSettled = tools.length === 1 && only !== undefined
    const format = isSettled ? only.parameters : { anyOf: tools.map(callSchema) }
    return {
      ...this.#plain(callInWords(tools)),
      format,
      writesCall: isSettled ? 'arguments' : 'call',
      tool: isSettled ? only.name : null,
    }
  }

  #plain(words: string | null) {
    const { parallel: parallelCalls } = this.#request.toolChoice
    const messages = words === null ? this.#messages : this.#told(words)
    return { messages, tools: [], toolChoice: 'auto', parallelCalls } as const
  }

  /** The conversation with a word of what the answer is to be, in the last turn: many templates know no later system message. */
  #told(words: string): readonly TemplateMessage[] {
    const last = this.#messages.at(-1)
    if (last?.role !== 'user') return [...this.#messages, { role: 'user', content: words }]
    return [...this.#messages.slice(0, -1), { ...last, content: `${last.content ?? ''}\n\n${words}` }]
  }
}

type SchemaPlace = { readonly schemaPath: ErrorPath; readonly isStrict: boolean }

/** A malformed schema that is not strict allows anything, as it does elsewhere; one that is too large is always refused. */
function checkOf(schema: JsonSchema, { schemaPath, isStrict }: SchemaPlace): ValueCheck {
  try {
    return createValueCheck(schema)
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    if (isStrict || error.keyword === null) throw refuseSchema(schemaPath, error)
    return { check: () => null, unenforced: [error.path] }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A call of one of several tools. What its schema refers to in itself stands elsewhere then. */
function callSchema({ name, parameters }: MessageTool, index: number): JsonSchema {
  return {
    type: 'object',
    properties: {
      name: { const: name },
      arguments: moved(parameters, `#/anyOf/${index}/properties/arguments`),
    },
    required: ['name', 'arguments'],
    additionalProperties: false,
  }
}

function moved(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map((item) => moved(item, root))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isReference = key === '$ref' && typeof inner === 'string' && inner.startsWith('#')
      return [key, isReference ? `${root}${inner.slice(1)}` : moved(inner, root)]
    }),
  )
}

function callInWords(tools: readonly MessageTool[]): string {
  const described = tools.map((tool) => JSON.stringify({ type: 'function', function: tool })).join('\n')
  const [only] = tools
  return tools.length === 1 && only !== undefined
    ? `Call this function now. Answer with nothing but its arguments, as one JSON object.\n${described}`
    : `Call one of these functions now. Answer with nothing but one JSON object with its "name" and "arguments".\n${described}`
}

function jsonInWords(format: 'object' | JsonSchema): string {
  if (format === 'object') return 'Answer with nothing but one JSON object.'
  return `Answer with nothing but JSON that keeps this schema:\n${JSON.stringify(format)}`
}
