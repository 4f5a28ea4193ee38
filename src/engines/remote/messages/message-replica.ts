import { modelSampling } from '../../../core/generation.ts'
import type { Clock } from '../../../lib/clock.ts'
import { malformed, ReplicaFault, type ReplicaConnection, type ReplicaRecord, type ReportedKind } from '../dialect.ts'
import { ReplicaClient } from '../replica-client.ts'
import { chatCompletions } from './chat-completions.ts'
import type { MessageDialect, MessageFacts, MessageRequest, MessageStep } from './message-dialect.ts'
import { ollama } from './ollama.ts'

const dialects: Readonly<Record<ReportedKind, MessageDialect>> = { ollama, 'chat-completions': chatCompletions }

export type MessageReplicaOptions = {
  readonly kind: ReportedKind
  readonly address: URL
  readonly key: string | null
  /** What the server calls the model; null takes the first that it names. */
  readonly model: string | null
  readonly clock: Clock
}

/** A model may have to be loaded for it. */
const proveMsMax = 120_000
/** Before its first output a server may load its model and compute a long prompt. */
const firstMsMax = 300_000
const betweenMsMax = 60_000

/** One server that takes messages, as it is spoken to. */
export class MessageReplica implements ReplicaConnection {
  readonly dialect: MessageDialect
  readonly isolates = false
  readonly #client: ReplicaClient
  readonly #model: string | null
  #facts: MessageFacts | null = null

  constructor({ kind, address, key, model, clock }: MessageReplicaOptions) {
    this.dialect = dialects[kind]
    this.#model = model
    this.#client = new ReplicaClient({ address, key, clock, paths: this.dialect.paths })
  }

  get facts(): MessageFacts | null {
    return this.#facts
  }

  check(): Promise<ReplicaFault | null> {
    return this.#client.check(this.dialect.health)
  }

  /** Finds out what it takes, and that an answer of its comes as a stream and with counts. Throws a ReplicaFault that says what is wrong. */
  async prove(): Promise<MessageFacts> {
    const facts = await this.dialect.probe((request) => this.#client.ask(request, proveMsMax), this.#model)
    const signal = AbortSignal.timeout(proveMsMax)
    let hasEnded = false
    try {
      for await (const steps of this.#steps(proofRequest, facts, signal))
        hasEnded ||= steps.some(({ kind }) => kind === 'end')
    } catch (error) {
      if (!(error instanceof ReplicaFault) || error.kind !== 'malformed') throw error
      throw new ReplicaFault('rejected', `Its answers cannot be read: ${error.message}`, { cause: error })
    }
    if (!hasEnded) throw malformed('Its answer ended without an end.')
    this.#facts = facts
    return facts
  }

  /** The steps of an answer. Throws a ReplicaFault where it fails; a reader that leaves ends it. */
  async *generate(request: MessageRequest, signal: AbortSignal): AsyncGenerator<readonly MessageStep[]> {
    const facts = this.#facts
    if (facts === null) throw new ReplicaFault('refused', 'It was not proved yet.')
    yield* this.#steps(request, facts, signal)
  }

  close(): void {
    this.#client.close()
  }

  async *#steps(
    request: MessageRequest,
    facts: MessageFacts,
    signal: AbortSignal,
  ): AsyncGenerator<readonly MessageStep[]> {
    const reader = this.dialect.createReader(request)
    const headers = request.traceparent === null ? {} : { traceparent: request.traceparent }
    const http = this.dialect.toRequest(request, facts)
    let hasBegun = false
    const terms = { signal, firstMsMax, betweenMsMax, hasBegun: () => hasBegun, take: asTheyCome }
    for await (const some of this.#client.open({ ...http, headers }, terms)) {
      // One by one: what an answer does not need any more is not held against the server.
      for (const record of some) {
        const steps = reader.read(record)
        hasBegun ||= steps.length > 0
        yield steps
      }
    }
    reader.end()
  }
}

function asTheyCome(records: readonly ReplicaRecord[]): readonly ReplicaRecord[] {
  return records
}

const proofRequest: MessageRequest = {
  messages: [{ role: 'user', content: 'Hello' }],
  tools: [],
  toolChoice: 'auto',
  parallelCalls: true,
  format: null,
  thinks: false,
  sampling: { ...modelSampling, temperature: 0 },
  outputTokensMax: 1,
  isolation: 'proof',
  traceparent: null,
}
