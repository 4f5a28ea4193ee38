// The text child: makes long texts into tokens beside the engine child of the same weights, of
// which it loads the vocabulary alone. However long and strange a text is, no answer that is
// being decoded waits for it, and a tokenizer that fails on it takes no answer with it.

import { setImmediate } from 'node:timers/promises'
import { contextExceeded, toApiError } from '../../../core/error.ts'
import { systemClock } from '../../../lib/clock.ts'
import { MemoryReturn, openCollector } from '../../../lib/memory-return.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { FromTextChild, LoadSettings, PartToChild, TaskId, ToTextChild } from '../ipc.ts'
import { PartReceiver } from '../message-parts.ts'
import { charactersOf } from '../../text/text-size.ts'
import { giveUpRest } from './give-up-rest.ts'
import { loadText } from './native.ts'
import { openLibrary } from './open-library.ts'
import { PlanMemory } from '../../text/answer/plan-memory.ts'
import { PieceMemory } from '../../text/prompt/piece-memory.ts'
import { describeText } from '../../text/model-text.ts'
import { isTokenizerFolder, loadTokenizerFolder } from '../../text/tokenizer-folder.ts'
import type { NativeText } from '../../text/vocabulary.ts'
import { countPrompt, createTextTools, prepareText, type TextTools } from '../../text/text-tools.ts'

type Asked = Extract<ToTextChild, { kind: 'prepare' | 'count' }>

/** Nobody waits for this text any longer. */
class NotWanted extends Error {
  override readonly name = 'NotWanted'
}

/** A prompt is counted to its end while it fits into this many windows; a longer one is only known to be longer. */
const windowsCounted = 2

/** The tokens of a hundred and fifty conversations of 100,000 tokens, which are sent again turn by turn. */
const pieceMemoryBytes = 64 * 2 ** 20
/** The plans of a thousand agents, of some 15 kB each, or of sixty whose models write each argument in tags. */
const planMemoryBytes = 16 * 2 ** 20

function send(message: FromTextChild): void {
  process.send?.(message)
}

async function readText(settings: LoadSettings): Promise<NativeText> {
  const { weightsPath } = settings
  const library = isTokenizerFolder(weightsPath) ? null : await openLibrary({ gpu: 'off' })
  giveUpRest()
  return library === null ? loadTokenizerFolder(weightsPath) : loadText(settings, library)
}

class TextChild {
  #tools: TextTools | null = null
  readonly #wanted = new Set<TaskId>()
  readonly #memory = new MemoryReturn({
    clock: systemClock,
    isIdle: () => this.#wanted.size === 0,
    collect: openCollector(),
  })
  #portions = 0

  receive(message: ToTextChild): void {
    switch (message.kind) {
      case 'load':
        return void this.#load(message.settings)
      case 'prepare':
        return void this.#attend(message, (tools) => this.#prepare(message, tools))
      case 'count':
        return void this.#attend(message, (tools) => this.#count(message, tools))
      case 'describe':
        return this.#describe()
      case 'abort':
        return void this.#wanted.delete(message.id)
      case 'ping':
        return send({ kind: 'pong', steps: this.#portions, isBusy: this.#wanted.size > 0 })
      case 'stop':
        return process.exit(0)
      default:
        message satisfies never
    }
  }

  async #load(settings: LoadSettings): Promise<void> {
    try {
      const memory = new PieceMemory(pieceMemoryBytes)
      this.#tools = createTextTools(
        await readText(settings),
        settings.chat ?? null,
        memory,
        new PlanMemory(planMemoryBytes),
      )
      send({ kind: 'ready' })
    } catch (error) {
      send({ kind: 'load-failed', message: messageOf(error) })
    }
  }

  #describe(): void {
    if (this.#tools !== null) send({ kind: 'described', model: describeText(this.#tools) })
  }

  async #prepare(
    { id, request, windowTokens }: Extract<ToTextChild, { kind: 'prepare' }>,
    tools: TextTools,
  ): Promise<void> {
    const text = await prepareText(request, tools, async (tokens) => {
      await this.#pause(id)
      if (tokens > windowTokens * windowsCounted) throw contextExceeded(tokens, windowTokens)
    })
    const inputTokens = text.prompt.tokens.length
    if (inputTokens >= windowTokens) throw contextExceeded(inputTokens, windowTokens)
    this.#answer(id, { kind: 'text', id, text })
  }

  async #count({ id, request }: Extract<ToTextChild, { kind: 'count' }>, tools: TextTools): Promise<void> {
    const tokens = await countPrompt(request, tools, () => this.#pause(id))
    this.#answer(id, { kind: 'counted', id, tokens })
  }

  /** Waits so that texts of other requests have their turn. */
  async #pause(id: TaskId): Promise<void> {
    this.#portions += 1
    await setImmediate()
    if (!this.#wanted.has(id)) throw new NotWanted()
  }

  async #attend({ id, request }: Asked, work: (tools: TextTools) => Promise<void>): Promise<void> {
    this.#wanted.add(id)
    try {
      // What was aborted right behind the request has arrived by then.
      await this.#pause(id)
      if (this.#tools === null) throw new Error('Nothing is loaded yet.')
      await work(this.#tools)
    } catch (error) {
      if (error instanceof NotWanted) return
      const { reason, message, cause } = toApiError(error)
      if (reason.code === 'internal') console.error(cause)
      this.#answer(id, { kind: 'failed', id, reason, message })
    } finally {
      this.#wanted.delete(id)
      this.#memory.note(charactersOf(request))
    }
  }

  #answer(id: TaskId, message: FromTextChild): void {
    if (this.#wanted.has(id)) send(message)
  }
}

const child = new TextChild()
process.on('disconnect', () => process.exit(0))
// The service decides when this process ends, as it does with the engine child.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
const parts = new PartReceiver()
process.on('message', (message: ToTextChild | PartToChild) => {
  const whole = parts.take(message)
  if (whole !== null) child.receive(whole)
})
