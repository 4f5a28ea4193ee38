// What the engines of replicas differ in. Tokens go out and tokens come back; text, thinking, calls and stops are made of
// them by what the embedded engine uses, so that nothing an engine says in words reaches a client.

import type { Sampling, TokenLogprob } from '../../core/generation.ts'
import type { TableReader } from '../text/model-text.ts'

export const replicaKinds = ['llama-server', 'vllm', 'sglang'] as const
export type ReplicaKind = (typeof replicaKinds)[number]

/** Kinds that take messages and no tokens: what they count is reported, and not known. */
export const reportedKinds = ['ollama', 'chat-completions'] as const
export type ReportedKind = (typeof reportedKinds)[number]
export type AnyReplicaKind = ReplicaKind | ReportedKind

/** One request to a replica: tokens to go on from, and the terms on which it goes on. */
export type TokenRequest = {
  readonly tokens: Uint32Array
  /** Only what the grammar accepts is chosen; null leaves it free. */
  readonly grammar: string | null
  readonly outputTokensMax: number
  /** Tokens that must not be chosen, those that end an answer included where it must go on. */
  readonly bannedTokens: readonly number[]
  /** Tokens that end an answer. An engine knows some of them by itself, and would go on behind the others. */
  readonly endTokens: readonly number[]
  readonly sampling: Sampling & { readonly seed: number }
  /** Alternatives to report per token; null reports no log-probabilities. */
  readonly logprobsTop: number | null
  /** What is held for one is never used for another. */
  readonly isolation: string
  readonly requestId: string
  readonly traceparent: string | null
  /** The slot that is to be used and whether what it holds may be, where the engine keeps them apart in no other way. */
  readonly slot: { readonly id: number; readonly mayReuse: boolean } | null
}

/** Tokens as JSON has them. To spread them, or `Array.from`, takes six times as long: 50 µs for a thousand. */
export function listTokens(tokens: Uint32Array): number[] {
  const list: number[] = []
  for (const token of tokens) list.push(token)
  return list
}

/** What one record of a replica's stream says. Absent is what it does not say. */
export type TokenStep = {
  readonly ids: readonly number[]
  /** For each id, where they were asked for; null where the replica told none with its answer. */
  readonly logprobs?: readonly (TokenIdLogprob | null)[]
  readonly promptTokens?: number
  readonly cachedTokens?: number
  /** `unknownTokens`: so many more were made than are told, of characters whose parts do not all come as tokens. */
  readonly end?: { readonly kind: 'stop' | 'limit'; readonly unknownTokens?: number }
}

export type TokenIdLogprob = {
  readonly logprob: number
  readonly top: readonly { readonly id: number; readonly logprob: number }[]
}

/** What a client is told of a token's probability: by bytes, as its ids are nobody's but the vocabulary's. */
export function describeLogprob(id: number, { logprob, top }: TokenIdLogprob, reader: TableReader): TokenLogprob {
  return {
    bytes: reader.bytesOf(id),
    logprob,
    top: top.map((other) => ({ bytes: reader.bytesOf(other.id), logprob: other.logprob })),
  }
}

/** A record as it came: a line of events, or a whole body. To ask for its value throws a ReplicaFault where it is no JSON. */
export type ReplicaRecord =
  | { readonly kind: 'json'; readonly bytes: Buffer; readonly value: unknown }
  | { readonly kind: 'done' }

export type HttpRequest = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** An array of an answer that is one JSON, whose elements are wanted as records of their own before the rest of it. */
  readonly elementsOf?: string
}

export interface Dialect {
  /** Where everything goes that a gateway ever asks; nothing else is requested of a replica. */
  readonly paths: readonly string[]
  readonly health: HttpRequest
  /** Finds out which run of its program answers, where that can be told: what one held, the next one does not. */
  readonly identity?: { readonly request: HttpRequest; read(answer: unknown): string | null }
  /** When it says how much of a prompt it had already. */
  readonly cachedTokens: 'start' | 'end' | 'never'
  /** Whether it keeps what it holds for one organization from another by itself. */
  readonly isolates: boolean
  /** Whether it sends nothing of an answer until it is whole. */
  isWhole?(request: TokenRequest): boolean
  toRequest(request: TokenRequest, replica: ReplicaFacts): HttpRequest
  /**
   * Makes the reader of one answer's records. A record that says something else than it was asked throws a ReplicaFault; so
   * does the end of the stream where the engine's own last record has not come.
   */
  createReader(request: TokenRequest, vocabulary: TableReader): RecordReader
  /** Ends a request at the replica itself, where closing the connection takes it longer; null where this one cannot be asked to. */
  abort?(requestId: string, replica: ReplicaFacts): HttpRequest | null
  probe(ask: Ask): Promise<ReplicaFacts>
  /** The tokens of a text as the replica makes them; control tokens written in it stay text where it has a choice. */
  tokenize(
    text: string,
    facts: ReplicaFacts,
  ): { readonly request: HttpRequest; read(answer: unknown): readonly number[] }
}

export interface RecordReader {
  read(record: ReplicaRecord): TokenStep
  /** Flags without which the replica was started, as its records show. Absent where none are. */
  readonly missing?: readonly string[]
  /** The replica was asked to end the answer: that it says so is an end from here on. Absent where that is told in no record. */
  stopped?(): void
  /** Asks for the log-probabilities that a step lacks. Absent where none ever does. */
  complete?(step: TokenStep, ask: Ask): Promise<TokenStep>
  /** The stream has ended. Throws where that is no end. */
  end(): void
}

/** Asks a replica something small and returns the JSON of its answer. Throws a ReplicaFault. */
export type Ask = (request: HttpRequest) => Promise<unknown>

/** What a replica says of itself; none of it is ever told to a client. */
export type ReplicaFacts = {
  readonly kind: AnyReplicaKind
  /** By which it wants to be asked; null where it does not care. */
  readonly modelName: string | null
  readonly version: string | null
  readonly windowTokens: number | null
  /** Answers that it generates at a time; null where it does not say. */
  readonly slots: number | null
  /** Tokens that it can hold for all answers together. */
  readonly heldTokensMax: number | null
  /** Which of several ways of its dialect it takes. */
  readonly route: string
  /** Flags that it was started without, and what is missed by that. */
  readonly missing: readonly string[]
  /** Which run of its program it was; absent where nothing tells that. */
  readonly identity?: string
}

/** A replica as it is spoken to, whatever it speaks. */
export interface ReplicaConnection {
  /** What it said of itself when it was proved last; null before. */
  readonly facts: ReplicaFacts | null
  /** Whether it keeps what it holds for one organization from another by itself. */
  readonly isolates: boolean
  /** Asks whether it is well. Returns what is wrong, null where nothing is. */
  check(): Promise<ReplicaFault | null>
  /** Asks whether its program is another run than the one that was proved, which may hold nothing and be another model. */
  isRestarted?(): Promise<boolean>
  close(): void
}

/** Bytes and times of what went wrong at a replica, for the operator's log alone. */
export type FaultKind =
  /** It takes no connection. */
  | 'refused'
  /** No connection to it came about in time: it is away, or its machine has too much to do. */
  | 'unconnected'
  /** It says nothing for too long. */
  | 'timeout'
  /** Its status says that it failed. */
  | 'status'
  /** It has too much to do. */
  | 'overloaded'
  /** What it says is no answer, or none to the end. */
  | 'malformed'
  /** It counts other tokens than it was given or has sent. */
  | 'lied'
  /** Asked whether it is well, it says that it is not. */
  | 'unwell'
  /** It refuses what it was asked: a fault of this gateway, or of what was believed of the replica. */
  | 'rejected'
  /** It lets this gateway in no more, or has nothing at a path of its dialect: it is its key, its path or its flags that are wrong. */
  | 'denied'
  /**
   * What its model has written is of no use for the answer. That says nothing of the replica: whoever asks for odd bytes gets
   * them from each.
   */
  | 'unfit'

export class ReplicaFault extends Error {
  override readonly name = 'ReplicaFault'
  readonly kind: FaultKind
  /** The status of its answer, where that is what is wrong; null elsewhere. */
  readonly status: number | null

  constructor(kind: FaultKind, message: string, options?: { readonly cause?: unknown; readonly status?: number }) {
    super(message, options)
    this.kind = kind
    this.status = options?.status ?? null
  }
}

const deniedStatuses: ReadonlySet<number> = new Set([401, 403, 404, 405])

/** What a status says, be it that of an answer or one that a record names once the answer has begun. */
export function faultOfStatus(status: number, what: string, cause: unknown): ReplicaFault {
  return new ReplicaFault(kindOf(status), what, { cause, status })
}

function kindOf(status: number): FaultKind {
  if (status === 429 || status === 503) return 'overloaded'
  if (deniedStatuses.has(status)) return 'denied'
  return status >= 400 && status < 500 ? 'rejected' : 'status'
}

/** Whether a replica does not take what it was asked, which says that it cannot be asked so. */
export function isNotTaken(error: unknown): boolean {
  return error instanceof ReplicaFault && (error.kind === 'rejected' || error.kind === 'denied')
}

/** Checks what a replica counted against what it was given and has sent. */
export class CountCheck {
  readonly #promptTokens: number
  #received = 0

  constructor({ tokens }: Pick<TokenRequest, 'tokens'>) {
    this.#promptTokens = tokens.length
  }

  get received(): number {
    return this.#received
  }

  take(ids: readonly number[], vocabulary: Pick<TableReader, 'size'>): void {
    for (const id of ids) {
      if (!Number.isInteger(id) || id < 0 || id >= vocabulary.size)
        throw new ReplicaFault('malformed', `It sent the token ${id}, which the vocabulary does not have.`)
    }
    this.#received += ids.length
  }

  prompt(counted: number | undefined, cached: number | undefined): void {
    if (counted !== undefined && counted !== this.#promptTokens)
      throw new ReplicaFault('lied', `It counted ${counted} tokens of a prompt of ${this.#promptTokens}.`)
    if (cached !== undefined && (!Number.isInteger(cached) || cached < 0 || cached > this.#promptTokens))
      throw new ReplicaFault('lied', `It says that it had ${cached} tokens of a prompt of ${this.#promptTokens}.`)
  }

  /** What the last record counts is what was received. */
  output(counted: number | undefined): void {
    if (counted === this.#received) return
    throw new ReplicaFault('lied', `It counted ${counted ?? 'no'} tokens of an answer of which ${this.#received} came.`)
  }
}

export function malformed(what: string, cause?: unknown): ReplicaFault {
  return new ReplicaFault('malformed', what, cause === undefined ? {} : { cause })
}
