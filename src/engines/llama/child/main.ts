// The engine child: loads one file of weights and generates from it. It knows nothing of
// the service but the messages of ipc.ts, and it ends when the service does.

import { statSync } from 'node:fs'

import { toApiError } from '../../../core/error.ts'
import { zeroUsage } from '../../../core/generation.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { FromChild, LoadSettings, PartToChild, TaskId, ToChild } from '../ipc.ts'
import { PartReceiver } from '../part-receiver.ts'
import { DecodeLoop } from './decode-loop.ts'
import { createDiskCache, type DiskCache } from './prompt-cache/disk-cache.ts'
import { giveUpRest } from './give-up-rest.ts'
import { loadNative, openLibrary, releaseOf, type Native } from './native.ts'
import { PromptCache } from './prompt-cache/prompt-cache.ts'
import { ReadAhead } from './prompt-cache/read-ahead.ts'
import { createSnapshotStore } from './prompt-cache/snapshot-store.ts'
import { createTask, limitOutput, type Task, type TaskContext } from './task.ts'
import { createTextTools, prepareText, type TextTools } from './text-tools.ts'
import { warmUp } from './warm-up.ts'

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

  receive(message: ToChild): void {
    switch (message.kind) {
      case 'load':
        return void this.#load(message.settings)
      case 'generate':
        return void this.#prepare(message.id, (loaded) => this.#submit(message, loaded))
      case 'begin':
        return this.#begin(message)
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
      const library = await openLibrary(settings)
      giveUpRest()
      // What was used last is read while the weights are loaded, so that it is there when they are.
      const kept = openKept(settings, releaseOf(library))
      void kept?.readAhead.next()
      const native = await loadNative(settings, library, (progress) => send({ kind: 'loading', progress }))
      send({ kind: 'loading', progress: 3 })
      const cacheBytesMax = this.#cacheBytesMax ?? settings.cacheBytesMax
      this.#loaded = prepare(native, kept, { ...settings, cacheBytesMax })
      const { vocabulary, toolFormat, prompts } = this.#loaded.tools
      await warmUp(native, vocabulary, prompts)
      const { windowTokens, slots, threads } = native
      const { tokenBytesMax } = vocabulary
      send({ kind: 'ready', windowTokens, slots, threads, tokenBytesMax, takesTools: toolFormat !== null })
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

  async #submit({ id, request, text, headStart }: AskedToGenerate, { tools, context }: Loaded): Promise<void> {
    const prepared = text ?? (await prepareText(request, tools))
    if (!this.#preparing.has(id)) return
    const task = createTask(id, { request, ...prepared }, context)
    const inputTokens = prepared.prompt.tokens.length
    send({ kind: 'prepared', id, inputTokens })
    this.#prepared.set(id, task)
    if (headStart !== null && inputTokens <= headStart.inputTokensMax) this.#begin({ id, ...headStart })
  }

  #begin({ id, outputTokensMax }: Omit<Extract<ToChild, { kind: 'begin' }>, 'kind'>): void {
    const task = this.#prepared.get(id)
    if (!this.#prepared.delete(id) || task === undefined) return
    limitOutput(task, outputTokensMax)
    this.#loaded?.loop.submit(task)
  }

  /** `work` looks whether the task was aborted meanwhile. */
  async #prepare(id: TaskId, work: (loaded: Loaded) => Promise<void>): Promise<void> {
    this.#preparing.add(id)
    try {
      if (this.#loaded === null) throw new Error('Nothing is loaded yet.')
      await work(this.#loaded)
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

function prepare(native: Native, kept: Kept | null, settings: LoadSettings): Loaded {
  const tools = createTextTools(native)
  const { memory, slots } = native
  // Where answers must be reproducible nothing is used a second time.
  const bytesToKeep = (bytesMax: number) => (settings.isReproducible ? 0 : bytesMax)
  const store = createSnapshotStore(memory, bytesToKeep(settings.cacheBytesMax))
  const cache = new PromptCache({ memory, store, ...kept, slots, nowMs: Date.now, onFault: console.error })
  const loop = new DecodeLoop(native, cache, {
    events: (batch) => send({ kind: 'events', batch }),
    aborted: (id, usage) => send({ kind: 'aborted', id, usage }),
    failed(id, error) {
      console.error(error)
      send({ kind: 'failed', id, reason: { code: 'engine-failed' }, message: 'The model could not go on.' })
    },
  })
  const { vocabulary, tags, toolFormat } = tools
  const resizeCache = (bytesMax: number) => store.resize(bytesToKeep(bytesMax))
  return { loop, tools, resizeCache, context: { native, vocabulary, tags, toolFormat } }
}

/** What is kept on the disk belongs to one file of weights and one version of the library that computed it. */
function openKept({ cacheOnDisk, weightsPath, isReproducible }: LoadSettings, release: string): Kept | null {
  if (cacheOnDisk === null || isReproducible) return null
  const { size, mtimeMs } = statSync(weightsPath)
  const fingerprint = `${weightsPath} ${size} ${mtimeMs} ${release}`
  const disk = createDiskCache({ ...cacheOnDisk, fingerprint, nowMs: Date.now })
  return { disk, readAhead: new ReadAhead(disk) }
}
