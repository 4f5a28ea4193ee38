// The engine child: loads one file of weights and generates from it. It knows nothing of
// the service but the messages of ipc.ts, and it ends when the service does.

import { toApiError } from '../../../core/error.ts'
import { compileChatTemplate } from '../../../prompts/chat-template.ts'
import { probeTemplate } from '../../../prompts/probe-template.ts'
import type { FromChild, LoadSettings, TaskId, ToChild } from '../ipc.ts'
import { DecodeLoop } from './decode-loop.ts'
import { loadNative, type Native } from './native.ts'
import { createPromptBuilder, type PromptBuilder } from './prompt-builder.ts'
import { createTask, type TaskContext } from './task.ts'
import { createVocabulary } from './vocabulary.ts'

type Loaded = { readonly loop: DecodeLoop; readonly prompts: PromptBuilder; readonly context: TaskContext }

/** For weights that bring no template of their own. */
const plainTemplate =
  '{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}'

process.on('disconnect', () => process.exit(0))
process.on('message', createReceiver())

function send(message: FromChild): void {
  process.send?.(message)
}

function createReceiver() {
  let loaded: Loaded | null = null

  async function load(settings: LoadSettings): Promise<void> {
    try {
      const native = await loadNative(settings)
      loaded = prepare(native)
      send({
        kind: 'ready',
        windowTokens: native.windowTokens,
        slots: native.slots,
        isPlaceholder: native.modelName === 'placeholder',
      })
    } catch (error) {
      send({ kind: 'load-failed', message: error instanceof Error ? error.message : String(error) })
      return
    }
    loaded.loop.run().catch((error: unknown) => {
      console.error(error)
      process.exit(1)
    })
  }

  function attempt(id: TaskId, work: (loaded: Loaded) => void): void {
    try {
      if (loaded === null) throw new Error('Nothing is loaded yet.')
      work(loaded)
    } catch (error) {
      const { reason, message, cause } = toApiError(error)
      if (reason.code === 'internal') console.error(cause)
      send({ kind: 'failed', id, reason, message })
    }
  }

  return (message: ToChild): void => {
    switch (message.kind) {
      case 'load':
        return void load(message.settings)
      case 'generate':
        return attempt(message.id, ({ loop, prompts, context }) => {
          loop.submit(createTask(message.id, message.request, prompts.build(message.request), context))
        })
      case 'count':
        return attempt(message.id, ({ prompts }) => {
          send({ kind: 'counted', id: message.id, tokens: prompts.build(message.request).tokens.length })
        })
      case 'abort':
        return loaded?.loop.abort(message.id)
      case 'taken':
        return loaded?.loop.taken(message.id, message.events)
      case 'ping':
        return send({ kind: 'pong', steps: loaded?.loop.steps ?? 0, isBusy: loaded?.loop.isBusy ?? false })
      default:
        message satisfies never
    }
  }
}

function prepare(native: Native): Loaded {
  const bos = native.vocabulary.tokenBos()
  const eos = native.vocabulary.tokenEos()
  const template = compileChatTemplate(native.chatTemplate ?? plainTemplate, {
    bosToken: bos >= 0 ? native.vocabulary.getTokenString(bos) : '',
    eosToken: eos >= 0 ? native.vocabulary.getTokenString(eos) : '',
  })
  const traits = probeTemplate(template)
  const tags = traits.thinkingTags
  const vocabulary = createVocabulary(
    native.vocabulary,
    native.vocabularySize,
    tags === null ? [] : [tags.open, tags.close],
  )
  const loop = new DecodeLoop(native, {
    events: (batch) => send({ kind: 'events', batch }),
    aborted: (id, usage) => send({ kind: 'aborted', id, usage }),
  })
  const context = { vocabulary, tags, windowTokens: native.windowTokens }
  return { loop, prompts: createPromptBuilder(template, traits, vocabulary), context }
}
