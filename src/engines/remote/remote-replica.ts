import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { PushedStream } from '../../lib/pushed-stream.ts'
import type { TableReader } from '../text/model-text.ts'
import {
  ReplicaFault,
  type Ask,
  type Dialect,
  type HttpRequest,
  type RecordReader,
  type ReplicaRecord,
  type ReplicaConnection,
  type ReplicaFacts,
  type ReplicaKind,
  type TokenRequest,
  type TokenStep,
} from './dialect.ts'
import { llamaServer } from './dialects/llama-server.ts'
import { proveReplica } from './prove-replica.ts'
import { ReplicaClient } from './replica-client.ts'
import { sglang } from './dialects/sglang.ts'
import { vllm } from './dialects/vllm.ts'

const dialects: Readonly<Record<ReplicaKind, Dialect>> = { 'llama-server': llamaServer, vllm, sglang }

export type RemoteReplicaOptions = {
  readonly kind: ReplicaKind
  readonly address: URL
  readonly key: string | null
  readonly clock: Clock
}

const askMsMax = 20_000
const abortMsMax = 2_000
/** What a replica says at the end of an answer that it was asked to end came within 8 ms; where it never comes, a client waits so long for its end. */
const lastRecordMsMax = 1_000
/** Between two tokens. */
const betweenMsMax = 30_000
/** Before the first one, beside what the prompt takes, where another replica can be asked instead. */
const firstMsLeast = 2_000
/** For each token of an answer that comes as a whole: the pace of a large model without a card. */
const wholeMsPerToken = 1_000
/**
 * Before the first token of an answer under a grammar, which engines make masks of: at the least, and for each character of it.
 * xgrammar 0.2.8 takes up to half a millisecond a character on one core with 49,000 tokens, for a text of bounded length.
 */
const grammarMsLeast = 1_000
const grammarMsPerCharacter = 1
const prefillPatience = 3
/** Until a replica's pace is known: a large model on a slow machine. */
const slowestTokensPerSecond = 50

/** One replica as it is spoken to. Whether it is to be given anything is decided elsewhere. */
export class RemoteReplica implements ReplicaConnection {
  readonly dialect: Dialect
  readonly #client: ReplicaClient
  readonly #clock: Clock
  #facts: ReplicaFacts | null = null
  /** The runs of its program that were proved. */
  readonly #runs = new Set<string>()

  constructor({ kind, address, key, clock }: RemoteReplicaOptions) {
    this.dialect = dialects[kind]
    this.#clock = clock
    this.#client = new ReplicaClient({ address, key, clock, paths: this.dialect.paths })
  }

  get isolates(): boolean {
    return this.dialect.isolates
  }

  /** What it said of itself when it was proved last; null before. */
  get facts(): ReplicaFacts | null {
    return this.#facts
  }

  /** Asks whether it is well. Returns what is wrong, null where nothing is. */
  check(): Promise<ReplicaFault | null> {
    return this.#client.check(this.dialect.health)
  }

  /**
   * Asks whether its program is another run than those that were proved. One that does not say so is taken for the same; and
   * where a former one answers again, there are several behind its address.
   */
  async isRestarted(): Promise<boolean> {
    const { identity } = this.dialect
    if (identity === undefined || this.#runs.size === 0) return false
    const answer = await this.#client.ask(identity.request, askMsMax).catch(() => null)
    const run = identity.read(answer)
    return run !== null && !this.#runs.has(run)
  }

  /** Finds out whether it is what it is said to be, and can be given tokens. Throws a ReplicaFault that says what is wrong. */
  async prove(reader: TableReader): Promise<ReplicaFacts> {
    const ask: Parameters<Dialect['probe']>[0] = (request) => this.#client.ask(request, askMsMax)
    const probed = await this.dialect.probe(ask)
    const missing = new Set(probed.missing)
    await proveReplica({
      dialect: this.dialect,
      facts: probed,
      reader,
      ask,
      run: (request) => this.#collect(request, probed, reader, missing),
    })
    const facts = { ...probed, missing: [...missing] }
    this.#facts = facts
    if (facts.identity !== undefined) this.#runs.add(facts.identity)
    return facts
  }

  /** Has an answer made. */
  generate(request: TokenRequest, reader: TableReader, terms: GenerationTerms): ReplicaAnswer {
    const facts = this.#facts
    if (facts === null) return unproved()
    const records = this.dialect.createReader(request, reader)
    const closing = new AbortController()
    const close = () => closing.abort()
    terms.signal.addEventListener('abort', close, { once: true })
    if (terms.signal.aborted) close()
    let cancelClosing = () => {}
    const onOver = () => {
      cancelClosing()
      terms.signal.removeEventListener('abort', close)
    }
    return {
      steps: this.#steps({ ...terms, request, facts, records, signal: closing.signal, onOver }),
      stop: () => {
        const asked = this.#tellsOfPromptAtEnd(facts) ? this.#toAbort(request, facts) : null
        if (asked === null || records.stopped === undefined) return false
        records.stopped()
        cancelClosing = this.#clock.after(lastRecordMsMax, close)
        this.#client.ask(asked, abortMsMax).catch(close)
        return true
      },
    }
  }

  close(): void {
    this.#client.close()
  }

  async #collect(
    request: TokenRequest,
    facts: ReplicaFacts,
    reader: TableReader,
    missing: Set<string>,
  ): Promise<TokenStep[]> {
    const steps: TokenStep[] = []
    const signal = AbortSignal.timeout(askMsMax * prefillPatience)
    const records = this.dialect.createReader(request, reader)
    const terms = { signal, tokensPerSecond: null, isAlone: false }
    for await (const some of this.#steps({ request, facts, records, ...terms })) steps.push(...some)
    for (const flag of records.missing ?? []) missing.add(flag)
    return steps
  }

  #steps(generation: Generation): AsyncIterableIterator<readonly TokenStep[]> {
    const { request, facts, records, signal } = generation
    const headers = request.traceparent === null ? {} : { traceparent: request.traceparent }
    let hasBegun = false
    let isOver = false
    const take = (some: readonly ReplicaRecord[]) => {
      const steps = some.map((record) => records.read(record))
      hasBegun ||= steps.some(({ ids }) => ids.length > 0)
      isOver ||= steps.some(({ end }) => end !== undefined)
      generation.onSteps?.(steps)
      return steps
    }
    const steps = this.#client.open(
      { ...this.dialect.toRequest(request, facts), headers },
      {
        signal,
        betweenMsMax,
        firstMsMax: this.#firstMsMax(generation),
        hasBegun: () => hasBegun,
        take,
        ended: () => {
          isOver = true
          records.end()
        },
        onOver: () => {
          generation.onOver?.()
          if (!isOver) this.#abort(request, facts)
        },
      },
    )
    const { complete } = records
    return complete === undefined || request.logprobsTop === null ? steps : this.#completed(steps, complete)
  }

  /** With the log-probabilities that the replica has told none of. */
  async *#completed(
    steps: AsyncIterable<readonly TokenStep[]>,
    complete: NonNullable<RecordReader['complete']>,
  ): AsyncGenerator<readonly TokenStep[], undefined> {
    const ask: Ask = (request) => this.#client.ask(request, askMsMax)
    const completed = (step: TokenStep) =>
      step.logprobs?.includes(null) === true ? complete(step, ask) : Promise.resolve(step)
    for await (const some of steps) {
      for (const step of some) yield* inParts(await completed(step))
    }
  }

  /** How long the first record may take, and each after it before the first output. */
  #firstMsMax({ request, tokensPerSecond, isAlone }: Generation): number {
    const prefillMs = (request.tokens.length * 1_000) / (tokensPerSecond ?? slowestTokensPerSecond)
    const wholeMs = this.dialect.isWhole?.(request) === true ? request.outputTokensMax * wholeMsPerToken : 0
    const grammarMs = request.grammar === null ? 0 : grammarMsLeast + request.grammar.length * grammarMsPerCharacter
    return (isAlone ? betweenMsMax : firstMsLeast) + prefillMs * prefillPatience + grammarMs + wholeMs
  }

  /** Ends what its reader has left, or what has failed: the connection is closed already, which some notice late. */
  #abort(request: TokenRequest, facts: ReplicaFacts): void {
    const asked = this.#toAbort(request, facts)
    // One that does not answer to that notices by the connection all the same.
    if (asked !== null) this.#client.ask(asked, abortMsMax).catch(() => {})
  }

  #toAbort({ requestId }: TokenRequest, facts: ReplicaFacts): HttpRequest | null {
    return this.dialect.abort?.(requestId, facts) ?? null
  }

  #tellsOfPromptAtEnd({ missing }: ReplicaFacts): boolean {
    return this.dialect.cachedTokens === 'end' && !missing.includes('--enable-prompt-tokens-details')
  }
}

const partTokens = 64

/** The step of an answer that came as a whole, some tokens at a time: these take a millisecond or two, and then others have a turn. */
async function* inParts(step: TokenStep): AsyncGenerator<readonly TokenStep[], undefined> {
  const { ids, logprobs = [], end, ...about } = step
  if (ids.length <= partTokens) return yield [step]
  for (let start = 0; start < ids.length; start += partTokens) {
    if (start > 0) await nextTurn()
    yield [
      {
        ids: ids.slice(start, start + partTokens),
        logprobs: logprobs.slice(start, start + partTokens),
        ...(start === 0 && about),
        ...(start + partTokens >= ids.length && end !== undefined && { end }),
      },
    ]
  }
}

function unproved(): ReplicaAnswer {
  const steps = new PushedStream<readonly TokenStep[]>()
  steps.end(new ReplicaFault('refused', 'It was not proved yet.'))
  return { steps, stop: () => false }
}

/** An answer that a replica makes. */
export type ReplicaAnswer = {
  /** Throws a ReplicaFault where it fails; a reader that leaves ends it. */
  readonly steps: AsyncIterableIterator<readonly TokenStep[]>
  /**
   * Has the replica end it, for the sake of what that says of the prompt at an answer's end: the steps go on until then. False,
   * and nothing is done, where it would say nothing.
   */
  stop(): boolean
}

export type GenerationTerms = {
  readonly signal: AbortSignal
  /** Prompt tokens that it is known to compute in a second; null where nothing was measured. */
  readonly tokensPerSecond: number | null
  /** Whether no other replica could be asked instead: then giving it up early would help nobody. */
  readonly isAlone: boolean
  /** Told of the steps as they come, whenever they are read. */
  onSteps?(steps: readonly TokenStep[]): void
}

type Generation = GenerationTerms & {
  readonly request: TokenRequest
  readonly facts: ReplicaFacts
  readonly records: RecordReader
  onOver?(): void
}
