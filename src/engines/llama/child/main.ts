// The engine child: loads one file of weights and generates from it. It knows nothing of
// the service but the messages of ipc.ts, and it ends when the service does.

import { statSync } from 'node:fs'

import { toApiError } from '../../../core/error.ts'
import { zeroUsage, type EngineRequest } from '../../../core/generation.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { compileChatTemplate } from '../../../prompts/chat-template.ts'
import { probeTemplate, type ThinkingTags } from '../../../prompts/probe-template.ts'
import { deriveToolFormat } from '../../../prompts/tool-format/derive-tool-format.ts'
import type { ToolFormat } from '../../../prompts/tool-format/tool-format.ts'
import type { FromChild, LoadSettings, TaskId, ToChild } from '../ipc.ts'
import { forcesAnswer, planAnswer } from './answer/answer-plan.ts'
import { DecodeLoop } from './decode-loop.ts'
import { createDiskCache, type DiskCache } from './prompt-cache/disk-cache.ts'
import { loadNative, openLibrary, releaseOf, type Native } from './native.ts'
import { PromptCache } from './prompt-cache/prompt-cache.ts'
import { createPromptBuilder, type PromptBuilder } from './prompt/prompt-builder.ts'
import { ReadAhead } from './prompt-cache/read-ahead.ts'
import { refuseUnknownTokens } from './prompt/refuse-unknown-tokens.ts'
import { createSnapshotStore } from './prompt-cache/snapshot-store.ts'
import { createTask, limitOutput, type Task, type TaskContext } from './task.ts'
import { boundaryTexts, createVocabulary } from './vocabulary.ts'
import { warmUp } from './warm-up.ts'

type Asked = { readonly id: TaskId; readonly request: EngineRequest }
type AskedToGenerate = Extract<ToChild, { kind: 'generate' }>
type Loaded = {
  readonly loop: DecodeLoop
  readonly prompts: PromptBuilder
  readonly context: TaskContext
  resizeCache(bytesMax: number): void
}

/** What outlives the process. */
type Kept = { readonly disk: DiskCache; readonly readAhead: ReadAhead }

/** For weights that bring no template of their own. */
const plainTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

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
      case 'count':
        return void this.#prepare(message.id, (loaded) => this.#count(message, loaded))
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
      // What was used last is read while the weights are loaded, so that it is there when they are.
      const kept = openKept(settings, releaseOf(library))
      void kept?.readAhead.next()
      const native = await loadNative(settings, library)
      const cacheBytesMax = this.#cacheBytesMax ?? settings.cacheBytesMax
      this.#loaded = prepare(native, kept, { ...settings, cacheBytesMax })
      await warmUp(native, this.#loaded.context.vocabulary, this.#loaded.prompts)
      const { windowTokens, slots } = native
      const takesTools = this.#loaded.context.toolFormat !== null
      send({ kind: 'ready', windowTokens, slots, takesTools })
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

  async #submit(
    { id, request, awaitsTurn, headStart }: AskedToGenerate,
    { loop, prompts, context }: Loaded,
  ): Promise<void> {
    refuseUnknownTokens(request.sampling, context.native.vocabularySize)
    const plan = planAnswer(request, context.toolFormat)
    const prompt = await prompts.build(request, { opensThinking: plan.forced !== null })
    if (!this.#preparing.has(id)) return
    const task = createTask(id, { request, prompt, plan }, context)
    if (!awaitsTurn) return loop.submit(task)
    const inputTokens = prompt.tokens.length
    send({ kind: 'prepared', id, inputTokens })
    this.#prepared.set(id, task)
    if (headStart !== null && inputTokens <= headStart.inputTokensMax) this.#begin({ id, ...headStart })
  }

  #begin({ id, outputTokensMax }: Omit<Extract<ToChild, { kind: 'begin' }>, 'kind'>): void {
    const task = this.#prepared.get(id)
    if (!this.#prepared.delete(id) || task === undefined) return
    if (outputTokensMax !== null) limitOutput(task, outputTokensMax)
    this.#loaded?.loop.submit(task)
  }

  /** A count is of the prompt alone: no grammar is made for an answer that nobody will write. */
  async #count({ id, request }: Asked, { prompts, context }: Loaded): Promise<void> {
    const { tokens } = await prompts.build(request, { opensThinking: forcesAnswer(request, context.toolFormat) })
    if (this.#preparing.has(id)) send({ kind: 'counted', id, tokens: tokens.length })
  }

  /** Building a prompt takes a while where it is long; `work` looks whether the task was aborted meanwhile. */
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
process.on('message', (message: ToChild) => child.receive(message))

function prepare(native: Native, kept: Kept | null, settings: LoadSettings): Loaded {
  const template = compileChatTemplate(native.chatTemplate ?? plainTemplate, boundaryTexts(native.vocabulary))
  const traits = probeTemplate(template)
  const toolFormat = deriveToolFormat((messages, options) => template.render(messages, options))
  const vocabulary = createVocabulary(native.vocabulary, {
    size: native.vocabularySize,
    markup: markupOf(traits.thinkingTags, toolFormat, template.source),
    templateSource: template.source,
  })
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
  const prompts = createPromptBuilder({ template, traits, toolFormat, vocabulary })
  const resizeCache = (bytesMax: number) => store.resize(bytesToKeep(bytesMax))
  return { loop, prompts, resizeCache, context: { native, vocabulary, tags: traits.thinkingTags, toolFormat } }
}

/** What is kept on the disk belongs to one file of weights and one version of the library that computed it. */
function openKept({ cacheOnDisk, weightsPath, isReproducible }: LoadSettings, release: string): Kept | null {
  if (cacheOnDisk === null || isReproducible) return null
  const { size, mtimeMs } = statSync(weightsPath)
  const fingerprint = `${weightsPath} ${size} ${mtimeMs} ${release}`
  const disk = createDiskCache({ ...cacheOnDisk, fingerprint, nowMs: Date.now })
  return { disk, readAhead: new ReadAhead(disk) }
}

/** Texts in which control tokens are markers that have to be read: those of thinking and of calls. */
function markupOf(tags: ThinkingTags | null, format: ToolFormat | null, source: string): string[] {
  const thinking = tags === null ? [] : [tags.open, tags.close]
  if (format === null) return thinking
  // Of the notations that were not derived, the template alone knows the markers.
  const isDerived = ['envelope', 'marked', 'tagged'].includes(format.notation.kind)
  return [...thinking, ...(isDerived ? stringsIn(format) : [source])]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
