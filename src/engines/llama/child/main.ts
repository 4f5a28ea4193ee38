// The engine child: loads one file of weights and generates from it. It knows nothing of
// the service but the messages of ipc.ts, and it ends when the service does.

import { toApiError } from '../../../core/error.ts'
import { zeroUsage, type EngineRequest } from '../../../core/generation.ts'
import { compileChatTemplate } from '../../../prompts/chat-template.ts'
import { probeTemplate, type ThinkingTags } from '../../../prompts/probe-template.ts'
import { deriveToolFormat } from '../../../prompts/tool-format/derive-tool-format.ts'
import type { ToolFormat } from '../../../prompts/tool-format/tool-format.ts'
import type { FromChild, LoadSettings, TaskId, ToChild } from '../ipc.ts'
import { planAnswer } from './answer-plan.ts'
import { DecodeLoop } from './decode-loop.ts'
import { loadNative, type Native } from './native.ts'
import { createPromptBuilder, type PromptBuilder } from './prompt-builder.ts'
import { createTask, type PlannedRequest, type TaskContext } from './task.ts'
import { boundaryTexts, createVocabulary } from './vocabulary.ts'

type Asked = { readonly id: TaskId; readonly request: EngineRequest }
type Loaded = { readonly loop: DecodeLoop; readonly prompts: PromptBuilder; readonly context: TaskContext }

/** For weights that bring no template of their own. */
const plainTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

function send(message: FromChild): void {
  process.send?.(message)
}

class EngineChild {
  #loaded: Loaded | null = null
  /** Tasks whose prompt is being built. */
  readonly #preparing = new Set<TaskId>()

  receive(message: ToChild): void {
    switch (message.kind) {
      case 'load':
        return void this.#load(message.settings)
      case 'generate':
        return void this.#plan(message, (planned, { loop, context }) => {
          loop.submit(createTask(message.id, planned, context))
        })
      case 'count':
        return void this.#plan(message, ({ prompt }) => {
          send({ kind: 'counted', id: message.id, tokens: prompt.tokens.length })
        })
      case 'abort':
        return this.#abort(message.id)
      case 'taken':
        return this.#loaded?.loop.taken(message.id, message.events)
      case 'ping': {
        const { steps, isBusy } = this.#loaded?.loop ?? { steps: 0, isBusy: false }
        return send({ kind: 'pong', steps, isBusy })
      }
      default:
        message satisfies never
    }
  }

  async #load(settings: LoadSettings): Promise<void> {
    try {
      const native = await loadNative(settings)
      this.#loaded = prepare(native)
      const { windowTokens, slots, modelName } = native
      const takesTools = this.#loaded.context.toolFormat !== null
      send({ kind: 'ready', windowTokens, slots, takesTools, isPlaceholder: modelName === 'placeholder' })
    } catch (error) {
      send({ kind: 'load-failed', message: error instanceof Error ? error.message : String(error) })
      return
    }
    this.#loaded.loop.run().catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  }

  /** Builds the prompt, which takes a while where it is long, and goes on with it unless the task was aborted meanwhile. */
  async #plan({ id, request }: Asked, use: (planned: PlannedRequest, loaded: Loaded) => void): Promise<void> {
    this.#preparing.add(id)
    try {
      if (this.#loaded === null) throw new Error('Nothing is loaded yet.')
      const plan = planAnswer(request, this.#loaded.context.toolFormat)
      const prompt = await this.#loaded.prompts.build(request, { opensThinking: plan.forced !== null })
      if (this.#preparing.has(id)) use({ request, prompt, plan }, this.#loaded)
    } catch (error) {
      const { reason, message, cause } = toApiError(error)
      if (reason.code === 'internal') console.error(cause)
      send({ kind: 'failed', id, reason, message })
    } finally {
      this.#preparing.delete(id)
    }
  }

  #abort(id: TaskId): void {
    if (this.#preparing.delete(id)) send({ kind: 'aborted', id, usage: zeroUsage })
    else this.#loaded?.loop.abort(id)
  }
}

const child = new EngineChild()
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToChild) => child.receive(message))

function prepare(native: Native): Loaded {
  const template = compileChatTemplate(native.chatTemplate ?? plainTemplate, boundaryTexts(native.vocabulary))
  const traits = probeTemplate(template)
  const toolFormat = deriveToolFormat((messages, options) => template.render(messages, options))
  const vocabulary = createVocabulary(native.vocabulary, {
    size: native.vocabularySize,
    markup: markupOf(traits.thinkingTags, toolFormat, template.source),
    templateSource: template.source,
  })
  const loop = new DecodeLoop(native, {
    events: (batch) => send({ kind: 'events', batch }),
    aborted: (id, usage) => send({ kind: 'aborted', id, usage }),
    failed(id, error) {
      console.error(error)
      send({ kind: 'failed', id, reason: { code: 'engine-failed' }, message: 'The model could not go on.' })
    },
  })
  const prompts = createPromptBuilder({ template, traits, toolFormat, vocabulary })
  return { loop, prompts, context: { native, vocabulary, tags: traits.thinkingTags, toolFormat } }
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
