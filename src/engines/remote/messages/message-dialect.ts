// What engines differ in that take messages and no tokens. They render, tokenize, constrain and parse by themselves, so what
// they count is reported and not known; what they say is checked before it is handed on.

import type { TemplateMessage } from '../../../chat-format/chat-template.ts'
import type { JsonSchema, Sampling } from '../../../core/generation.ts'
import type { Ask, HttpRequest, ReplicaFacts, ReplicaRecord } from '../dialect.ts'

/** What a request asks for, whatever the server calls it. */
export type MessageRequest = {
  readonly messages: readonly TemplateMessage[]
  readonly tools: readonly MessageTool[]
  readonly toolChoice: 'auto' | 'required' | { readonly name: string }
  readonly parallelCalls: boolean
  /** The JSON that the answer is to be: any object, or what a schema describes; null leaves it free. */
  readonly format: 'object' | JsonSchema | null
  readonly thinks: boolean
  readonly sampling: Sampling
  readonly outputTokensMax: number
  /** By which a server that can keep organizations apart does. */
  readonly isolation: string
  readonly traceparent: string | null
}

export type MessageTool = { readonly name: string; readonly description: string; readonly parameters: JsonSchema }

/** What one record of a server's stream says. */
export type MessageStep =
  | { readonly kind: 'thinking' | 'text'; readonly text: string }
  /** A piece of a call; the pieces of one have the same number, and its name comes with the first. */
  | { readonly kind: 'call'; readonly number: number; readonly name: string | null; readonly arguments: string }
  | { readonly kind: 'end'; readonly reason: MessageEnd; readonly usage: ReportedUsage }

export type MessageEnd = 'stop' | 'length' | 'calls' | 'refusal'

/** What the server says that it has counted. */
export type ReportedUsage = {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
  readonly thinkingTokens: number
}

export interface MessageReader {
  /** Throws a ReplicaFault where a record is none of an answer. */
  read(record: ReplicaRecord): readonly MessageStep[]
  /** The stream has ended. Throws where that is no end. */
  end(): void
}

/** What a server takes, as far as it could be found out. */
export type MessageTakes = {
  /** A tool may be forced by a field of the request. */
  readonly toolChoice: boolean
  readonly tools: boolean
  /** An answer is held to a schema by a field of the request. */
  readonly schema: boolean
  /** Thinking is turned on and off by a field of the request. */
  readonly thinking: boolean
}

export type MessageFacts = ReplicaFacts & { readonly takes: MessageTakes }

export interface MessageDialect {
  /** Where everything goes that a gateway ever asks; nothing else is requested of a server. */
  readonly paths: readonly string[]
  readonly health: HttpRequest
  toRequest(request: MessageRequest, facts: MessageFacts): HttpRequest
  createReader(request: MessageRequest): MessageReader
  /** Finds out what a server is and takes; the model is what the operator calls it, null for what the server names first. */
  probe(ask: Ask, model: string | null): Promise<MessageFacts>
}
