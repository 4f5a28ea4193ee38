import type { Engine, EngineStatus, Prepared, RunTerms } from '../../core/engine.ts'
import type { Feature } from '../../core/feature.ts'
import {
  GenerationAborted,
  zeroUsage,
  type BlockStart,
  type EngineRequest,
  type FinishReason,
  type GenerationEvent,
  type Usage,
} from '../../core/generation.ts'

/** One thing a scripted answer does. */
export type FakeStep =
  | {
      readonly kind: 'block'
      readonly block: BlockStart
      readonly texts: readonly string[]
      /** Never ends the block: for an answer that fails, or waits, in its midst. */
      readonly isLeftOpen?: boolean
    }
  /** Waits, or until the signal fires. */
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'wait-for'; readonly event: Promise<unknown> }
  | { readonly kind: 'fail'; readonly error: Error }
  | { readonly kind: 'end'; readonly reason: FinishReason }

export type FakeEngineOptions = {
  /** The answer to a request; by default it is the last user text, word by word. What it throws refuses the request. */
  script?(request: EngineRequest): readonly FakeStep[]
  /** How long a request waits for its slot, so to speak. */
  startsAfterMs?(): number
  startsAfter?(): Promise<unknown>
  readonly features?: ReadonlySet<Feature>
  readonly windowTokens?: number
  readonly slots?: number
}

/** An engine that follows a script. Every piece of text counts as one token, every prompt as ten. */
export class FakeEngine implements Engine {
  readonly #options: FakeEngineOptions
  #running = 0

  constructor(options: FakeEngineOptions = {}) {
    this.#options = options
  }

  prepare(request: EngineRequest, signal: AbortSignal): Prepared {
    const cancelled = new AbortController()
    const growth = new FakeGrowth()
    return {
      tokensMax: promptTokensMax,
      tokens: Promise.resolve(promptTokens),
      unenforced: [],
      run: (terms) => this.#run(request, AbortSignal.any([signal, cancelled.signal]), { ...terms, growth }),
      allow: (outputTokens, isLast) => growth.allow(outputTokens, isLast),
      cancel: () => cancelled.abort(),
    }
  }

  status(): EngineStatus {
    return {
      state: 'ready',
      windowTokens: this.#options.windowTokens ?? 1_000_000,
      features: this.#options.features ?? new Set(),
      running: this.#running,
      waiting: 0,
      slots: this.#options.slots ?? 1_000,
    }
  }

  async close(): Promise<void> {}

  async *#run(request: EngineRequest, signal: AbortSignal, terms: FakeTerms): AsyncGenerator<GenerationEvent> {
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const outputTokensMax = Math.min(request.outputTokensMax, terms.outputTokensMax)
    const { growth, firstOutputTokens = Infinity } = terms
    growth.allow(firstOutputTokens, false)
    let held = 1
    this.#running += held
    const end = () => {
      this.#running -= held
      held = 0
    }
    try {
      let output = 0
      for await (const event of this.#answer({ ...request, outputTokensMax }, signal)) {
        if (event.type === 'delta' && !(await growth.mayBe(output + event.tokens, signal, terms))) {
          yield* cutOff(output, terms)
          return
        }
        if (event.type === 'delta') output += event.tokens
        if (event.type === 'finish') end()
        terms.onEvent?.(event)
        yield event
      }
    } finally {
      end()
    }
  }

  async *#answer(request: EngineRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const meter = createMeter()
    await waitOrAbort(this.#options.startsAfterMs?.() ?? 0, signal)
    await Promise.race([aborted(signal), this.#options.startsAfter?.()])
    if (signal.aborted) throw new GenerationAborted(zeroUsage)
    const steps = (this.#options.script ?? echo)(request)
    yield { type: 'start', usage: meter.usage() }
    for (const step of steps) yield* perform(step, meter, signal)
  }
}

type FakeTerms = RunTerms & { readonly growth: FakeGrowth }

/** How long the answer may be as yet. */
class FakeGrowth {
  #allowed = Infinity
  #isLast = false
  #changed = Promise.withResolvers<void>()

  allow(outputTokens: number, isLast: boolean): void {
    this.#allowed = outputTokens
    this.#isLast = isLast
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** Waits until the answer may have so many tokens, or never will. */
  async mayBe(outputTokens: number, signal: AbortSignal, terms: RunTerms): Promise<boolean> {
    while (outputTokens > this.#allowed) {
      if (this.#isLast) return false
      terms.onNearlyUsed?.()
      if (outputTokens > this.#allowed && !this.#isLast) await Promise.race([this.#changed.promise, aborted(signal)])
      if (signal.aborted) return true
    }
    return true
  }
}

function* cutOff(output: number, terms: RunTerms): Generator<GenerationEvent> {
  const usage = { ...zeroUsage, inputUncached: promptTokens, output }
  const events: GenerationEvent[] = [{ type: 'block-end' }, { type: 'finish', reason: { kind: 'length' }, usage }]
  for (const event of events) {
    terms.onEvent?.(event)
    yield event
  }
}

const promptTokens = 10
const promptTokensMax = 12

type Meter = { count(kind: BlockStart['kind']): void; usage(): Usage }

function createMeter(): Meter {
  let usage: Usage = { ...zeroUsage, inputUncached: promptTokens }
  return {
    count(kind) {
      const outputThinking = usage.outputThinking + (kind === 'thinking' ? 1 : 0)
      usage = { ...usage, output: usage.output + 1, outputThinking }
    },
    usage: () => usage,
  }
}

async function* perform(step: FakeStep, meter: Meter, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
  if (step.kind === 'wait') await waitOrAbort(step.ms, signal)
  if (step.kind === 'wait-for') await Promise.race([aborted(signal), step.event])
  for (const event of eventsOf(step, meter)) {
    if (signal.aborted) throw new GenerationAborted(meter.usage())
    yield event
  }
  if (signal.aborted) throw new GenerationAborted(meter.usage())
}

function* eventsOf(step: FakeStep, meter: Meter): Generator<GenerationEvent> {
  switch (step.kind) {
    case 'block':
      yield { type: 'block-start', block: step.block }
      for (const text of step.texts) {
        meter.count(step.block.kind)
        yield { type: 'delta', text, tokens: 1 }
      }
      if (step.isLeftOpen !== true) yield { type: 'block-end' }
      break
    case 'wait':
    case 'wait-for':
      break
    case 'fail':
      throw step.error
    case 'end':
      yield { type: 'finish', reason: step.reason, usage: meter.usage() }
      break
    default:
      step satisfies never
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  // A signal that has fired does not fire again.
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, signal.aborted ? 0 : ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Answers with the last user text and honours the limits a client may set. */
function echo(request: EngineRequest): readonly FakeStep[] {
  const last = request.messages.findLast((message) => message.role === 'user')
  const text = last?.content.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n') ?? ''
  const stop = request.stopSequences.find((sequence) => text.includes(sequence))
  const shown = stop === undefined ? text : text.slice(0, text.indexOf(stop))
  const words = shown.split(/(?<= )/).filter((word) => word !== '')
  const thinking: FakeStep[] =
    request.thinking.kind === 'on' ? [{ kind: 'block', block: { kind: 'thinking' }, texts: ['An ', 'echo.'] }] : []
  const room = Math.max(0, request.outputTokensMax - thinking.length * 2)
  const block: FakeStep[] =
    words.length === 0 || room === 0 ? [] : [{ kind: 'block', block: { kind: 'text' }, texts: words.slice(0, room) }]
  const stopped: FinishReason = stop === undefined ? { kind: 'end' } : { kind: 'stop-sequence', sequence: stop }
  return [...thinking, ...block, { kind: 'end', reason: words.length > room ? { kind: 'length' } : stopped }]
}
