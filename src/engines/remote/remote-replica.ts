import type { Clock } from '../../lib/clock.ts'
import type { TableReader } from '../text/model-text.ts'
import {
  ReplicaFault,
  type Dialect,
  type ReplicaFacts,
  type ReplicaKind,
  type TokenRequest,
  type TokenStep,
} from './dialect.ts'
import { llamaServer } from './llama-server.ts'
import { proveReplica } from './prove-replica.ts'
import { ReplicaClient } from './replica-client.ts'
import { sglang } from './sglang.ts'
import { vllm } from './vllm.ts'

const dialects: Readonly<Record<ReplicaKind, Dialect>> = { 'llama-server': llamaServer, vllm, sglang }

export type RemoteReplicaOptions = {
  readonly kind: ReplicaKind
  readonly address: URL
  readonly key: string | null
  readonly clock: Clock
}

const checkMsMax = 2_000
const askMsMax = 20_000
/** Between two tokens. */
const betweenMsMax = 30_000
/** Before the first one, beside what the prompt takes. */
const firstMsLeast = 2_000
const prefillPatience = 3
/** Until a replica's pace is known: a large model on a slow machine. */
const slowestTokensPerSecond = 50

/** One replica as it is spoken to. Whether it is to be given anything is decided elsewhere. */
export class RemoteReplica {
  readonly dialect: Dialect
  readonly #client: ReplicaClient
  #facts: ReplicaFacts | null = null

  constructor({ kind, address, key, clock }: RemoteReplicaOptions) {
    this.dialect = dialects[kind]
    this.#client = new ReplicaClient({ address, key, clock, paths: this.dialect.paths })
  }

  /** What it said of itself when it was proved last; null before. */
  get facts(): ReplicaFacts | null {
    return this.#facts
  }

  /** Asks whether it is well. Returns what is wrong, null where nothing is. */
  async check(): Promise<ReplicaFault | null> {
    try {
      await this.#client.ask(this.dialect.health, checkMsMax)
      return null
    } catch (error) {
      if (error instanceof ReplicaFault) return error
      throw error
    }
  }

  /** Finds out whether it is what it is said to be, and can be given tokens. Throws a ReplicaFault that says what is wrong. */
  async prove(reader: TableReader): Promise<ReplicaFacts> {
    const ask: Parameters<Dialect['probe']>[0] = (request) => this.#client.ask(request, askMsMax)
    const facts = await this.dialect.probe(ask)
    await proveReplica({
      dialect: this.dialect,
      facts,
      reader,
      ask,
      run: (request) => this.#collect(request, facts, reader),
    })
    this.#facts = facts
    return facts
  }

  /** The steps of an answer. Throws a ReplicaFault where it fails; a reader that leaves ends it. */
  async *generate(
    request: TokenRequest,
    reader: TableReader,
    { signal, tokensPerSecond }: { readonly signal: AbortSignal; readonly tokensPerSecond: number | null },
  ): AsyncGenerator<readonly TokenStep[]> {
    const facts = this.#facts
    if (facts === null) throw new ReplicaFault('refused', 'It was not proved yet.')
    yield* this.#steps({ request, facts, reader, signal, tokensPerSecond })
  }

  close(): void {
    this.#client.close()
  }

  async #collect(request: TokenRequest, facts: ReplicaFacts, reader: TableReader): Promise<TokenStep[]> {
    const steps: TokenStep[] = []
    const signal = AbortSignal.timeout(askMsMax * prefillPatience)
    for await (const some of this.#steps({ request, facts, reader, signal, tokensPerSecond: null })) steps.push(...some)
    return steps
  }

  async *#steps({ request, facts, reader, signal, tokensPerSecond }: Generation): AsyncGenerator<readonly TokenStep[]> {
    const records = this.dialect.createReader(request, reader)
    const prefillMs = (request.tokens.length * 1_000) / (tokensPerSecond ?? slowestTokensPerSecond)
    const terms = { signal, betweenMsMax, firstMsMax: firstMsLeast + prefillMs * prefillPatience }
    const http = this.dialect.toRequest(request, facts)
    const headers = request.traceparent === null ? {} : { traceparent: request.traceparent }
    for await (const some of this.#client.open({ ...http, headers }, terms))
      yield some.map((record) => records.read(record))
    records.end()
  }
}

type Generation = {
  readonly request: TokenRequest
  readonly facts: ReplicaFacts
  readonly reader: TableReader
  readonly signal: AbortSignal
  readonly tokensPerSecond: number | null
}
