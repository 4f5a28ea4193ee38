// The engine child: loads one file of weights and generates from it. It knows nothing of
// the service but the messages of ipc.ts, and it ends when the service does.

import { statSync } from 'node:fs'
import { toApiError } from '../../../core/error.ts'
import { zeroUsage } from '../../../core/generation.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { FromChild, LoadSettings, PartToChild, TaskId, ToChild } from '../ipc.ts'
import { PartReceiver } from '../message-parts.ts'
import { DecodeLoop, type DecodeLoopOutput } from './decode-loop.ts'
import { createDiskCache, type DiskCache } from './prompt-cache/disk-cache.ts'
import { giveUpRest } from './give-up-rest.ts'
import { loadNative, releaseOf, type Native } from './native.ts'
import { openLibrary } from './open-library.ts'
import { PreparingTurns } from './preparing-turns.ts'
import { PromptCache } from './prompt-cache/prompt-cache.ts'
import { ReadAhead } from './prompt-cache/read-ahead.ts'
import { createSnapshotStore } from './prompt-cache/snapshot-store.ts'
import { createStateRoom, type StateRoom } from './prompt-cache/state-room.ts'
import { holdPoolThreads, unheldThreads, type PoolThreads } from './threads/pool-threads.ts'
import { createTask, allowOutput, limitOutput, type Task, type TaskContext } from './task.ts'
import { PlanMemory } from '../../text/answer/plan-memory.ts'
import { createTextTools, prepareText, type TextTools } from '../../text/text-tools.ts'
import { leastRequest } from '../../../core/least-request.ts'
import type { PromptBuilder } from '../../text/prompt/prompt-builder.ts'
import { TokenChooser } from './sampling/token-chooser.ts'
import type { Vocabulary } from '../../text/vocabulary.ts'

/** What short requests bring, such as one schema for thousands of texts; others are planned in the text child. */
const planMemoryBytes = 4 * 2 ** 20

type AskedToGenerate = Extract<ToChild, { kind: 'generate' }>
type Loaded = {
  readonly loop: DecodeLoop
  readonly tools: TextTools
  readonly context: TaskContext
  resizeCache(bytesMax: number): void
}

/** What outlives the process. */
type Kept = { readonly disk: DiskCache; readonly readAhead: ReadAhead }

function send(message: FromChild): void {
  process.send?.(message)
}

class EngineChild {
  #loaded: Loaded | null = null
  /** Null while nothing else was said than when loading began. */
  #cacheBytesMax: number | null = null
  /** Tasks whose prompt is being built. */
  readonly #preparing = new Set<TaskId>()
  /** Tasks that wait for the service's word before they may have a slot. */
  readonly #prepared = new Map<TaskId, Task>()
  readonly #turns = new PreparingTurns(() => this.#loaded?.loop.isBusy === true)

  receive(message: ToChild): void {
    switch (message.kind) {
      case 'load':
        return void this.#load(message.settings)
      case 'generate':
        return this.#prepare(message)
      case 'begin':
        return this.#begin(message)
      case 'allow':
        return this.#loaded?.loop.allow(message.id, message.outputTokens, message.isLast)
      case 'abort':
        return this.#abort(message.id)
      case 'taken':
        return this.#loaded?.loop.taken(message.id, message.events)
      case 'stop':
        return void this.#stop()
      case 'resize-cache':
        return this.#resizeCache(message.bytesMax)
      case 'ping': {
        const none = { steps: 0, isBusy: false, drafts: { drafted: 0, accepted: 0 } }
        const { steps, isBusy, drafts } = this.#loaded?.loop ?? none
        return send({ kind: 'pong', steps, isBusy, drafts })
      }
      default:
        message satisfies never
    }
  }

  async #load(settings: LoadSettings): Promise<void> {
    try {
      const pool = holdPoolThreads()
      const states = createStateRoom()
      const library = await openLibrary(settings)
      giveUpRest()
      // The prompts used last are read while the weights are loaded, so that they are there when the weights are.
      const kept = openKept(settings, states, releaseOf(library))
      void kept?.readAhead.next()
      const onProgress = (progress: number) => send({ kind: 'loading', progress })
      const native = await loadNative(settings, library, onProgress, states)
      send({ kind: 'loading', progress: 3 })
      const cacheBytesMax = this.#cacheBytesMax ?? settings.cacheBytesMax
      this.#loaded = prepare(native, { ...settings, cacheBytesMax }, { pool, kept, turns: this.#turns })
      const { vocabulary, fitness, prompts } = this.#loaded.tools
      await warmUp(native, vocabulary, prompts)
      const { windowTokens, slots, guestSlots, threads, cards } = native
      const { tokenBytesMax } = vocabulary
      send({
        kind: 'ready',
        windowTokens,
        slots: slots - guestSlots,
        guestSlots,
        threads: threads.first,
        threadsMost: threads.most,
        cards,
        tokenBytesMax,
        fitness,
      })
    } catch (error) {
      send({ kind: 'load-failed', message: messageOf(error) })
      return
    }
    this.#loaded.loop.run().catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  }

  #resizeCache(bytesMax: number): void {
    this.#cacheBytesMax = bytesMax
    this.#loaded?.resizeCache(bytesMax)
  }

  async #stop(): Promise<void> {
    await this.#loaded?.loop.saveAll().catch((error: unknown) => console.error(error))
    process.exit(0)
  }

  async #submit({ id, request, text, optimisticTerms }: AskedToGenerate, { tools, context }: Loaded): Promise<void> {
    const prepared = text ?? (await prepareText(request, tools))
    if (!this.#preparing.has(id)) return
    const task = createTask(id, { request, ...prepared }, context)
    const inputTokens = prepared.prompt.tokens.length
    send({ kind: 'prepared', id, inputTokens, unenforced: prepared.plan.unenforced })
    this.#prepared.set(id, task)
    if (optimisticTerms !== null && inputTokens <= optimisticTerms.inputTokensMax)
      this.#begin({ id, ...optimisticTerms })
  }

  #begin({ id, outputTokensMax, firstOutputTokens }: Omit<Extract<ToChild, { kind: 'begin' }>, 'kind'>): void {
    const task = this.#prepared.get(id)
    if (!this.#prepared.delete(id) || task === undefined) return
    limitOutput(task, outputTokensMax)
    if (firstOutputTokens !== null) allowOutput(task, firstOutputTokens)
    this.#loaded?.loop.submit(task)
  }

  #prepare(message: AskedToGenerate): void {
    this.#preparing.add(message.id)
    this.#turns.run(message.request.owner.apiKeyId, () => void this.#attend(message))
  }

  async #attend(message: AskedToGenerate): Promise<void> {
    const { id } = message
    if (!this.#preparing.has(id)) return
    try {
      if (this.#loaded === null) throw new Error('Nothing is loaded yet.')
      await this.#submit(message, this.#loaded)
    } catch (error) {
      const { reason, message, cause } = toApiError(error)
      if (reason.code === 'internal') console.error(cause)
      send({ kind: 'failed', id, reason, message })
    } finally {
      this.#preparing.delete(id)
    }
  }

  #abort(id: TaskId): void {
    if (this.#preparing.delete(id) || this.#prepared.delete(id)) send({ kind: 'aborted', id, usage: zeroUsage })
    else this.#loaded?.loop.abort(id)
  }
}

const child = new EngineChild()
process.on('disconnect', () => process.exit(0))
// A terminal and a service manager signal every process of the service. When this one has to end is
// for the service to say, which lets answers that are under way come to their end first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
const parts = new PartReceiver()
process.on('message', (message: ToChild | PartToChild) => {
  const whole = parts.take(message)
  if (whole !== null) child.receive(whole)
})

type LoopParts = { readonly pool: PoolThreads; readonly kept: Kept | null; readonly turns: PreparingTurns }

function prepare(native: Native, settings: LoadSettings, { pool, kept, turns }: LoopParts): Loaded {
  const tools = createTextTools(native, settings.chat ?? null, null, new PlanMemory(planMemoryBytes))
  const { memory, slots } = native
  // Where answers must be reproducible nothing is used a second time.
  const bytesToKeep = (bytesMax: number) => (settings.isReproducible ? 0 : bytesMax)
  const store = createSnapshotStore(memory, bytesToKeep(settings.cacheBytesMax))
  const cache = new PromptCache({ memory, store, ...kept, slots, nowMs: Date.now, onFault: console.error })
  const output: DecodeLoopOutput = {
    events: (batch) => send({ kind: 'events', batch }),
    nearlyUsed: (id) => send({ kind: 'nearly-used', id }),
    aborted: (id, usage) => send({ kind: 'aborted', id, usage }),
    failed(id, error) {
      console.error(error)
      send({ kind: 'failed', id, reason: { code: 'engine-failed' }, message: 'The model could not go on.' })
    },
    hasTime: (stepMs) => turns.proceed(stepMs),
  }
  // Steps that a processor computes want the same thread each, whatever is chosen between them.
  const loop = new DecodeLoop(native, cache, output, native.cards === null ? unheldThreads : pool)
  const { vocabulary, tags, toolFormat } = tools
  const resizeCache = (bytesMax: number) => store.resize(bytesToKeep(bytesMax))
  return { loop, tools, resizeCache, context: { native, vocabulary, tags, toolFormat } }
}

/** What is kept on the disk belongs to one file of weights and one version of the library that computed it. */
function openKept(
  { cacheOnDisk, weightsPath, isReproducible, ...settings }: LoadSettings,
  states: StateRoom,
  release: string,
): Kept | null {
  if (cacheOnDisk === null || isReproducible) return null
  const { size, mtimeMs } = statSync(weightsPath)
  const { kvCacheType = 'f16', ropeScaling = null } = settings
  const fingerprint = `${weightsPath} ${size} ${mtimeMs} ${release} ${kvCacheType} ${JSON.stringify(ropeScaling)}`
  const disk = createDiskCache({ ...cacheOnDisk, fingerprint, states, nowMs: Date.now })
  return { disk, readAhead: new ReadAhead(disk) }
}

const sentences = 2_000
/** Enough for every weight to be read once. */
const tokensComputed = 16

/**
 * Does once what every request does, so that the first one finds everything ready.
 *
 * Weights are read from their file when they are first used, the library plans a
 * computation when it first makes it, and a program becomes fast by being run.
 */
async function warmUp(native: Native, vocabulary: Vocabulary, prompts: PromptBuilder): Promise<void> {
  const { context, memory, windowTokens, batchTokens } = native
  const { tokens } = await prompts.build(request)
  const some = tokens.subarray(0, Math.min(tokensComputed, windowTokens, batchTokens))
  const chooser = new TokenChooser(native, vocabulary, request, [])
  context.initBatch(some.length)
  const [logit] = Array.from(context.addToBatch(0, 0, some, Uint32Array.of(some.length - 1)))
  await context.decodeBatch()
  if (logit !== undefined) await chooser.choose(logit)
  chooser.dispose()
  memory.clear(0)
}

const request = leastRequest('The first words of the day, number 1. '.repeat(sentences))
