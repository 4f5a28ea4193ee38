// An engine child, and a text child, that compute nothing: it speaks to the service as the real one does, and its
// answers come at the mock's pace. It is loaded before the real child's program, which then never
// begins, because this module waits for ever.

import { type GenerationEvent, type Usage, zeroUsage } from '../../../src/core/generation.ts'
import type {
  EventBatch,
  FromChild,
  FromTextChild,
  PartToChild,
  TaskId,
  ToChild,
  ToTextChild,
} from '../../../src/engines/llama/ipc.ts'
import type { PreparedText } from '../../../src/engines/text/prepared-text.ts'
import { PartReceiver } from '../../../src/engines/llama/message-parts.ts'
import { promptTokensOf, wordsOf } from './answer-words.ts'
import { Pacer, type Due } from './pacer.ts'
import { readPace } from './read-pace.ts'

type Task = { readonly id: TaskId; readonly inputTokens: number; readonly tokensMax: number }
type Generate = Extract<ToChild, { kind: 'generate' }>

/** More than are ever under way here: what is measured is not the wait for a slot. */
const slots = 16_384

/** What a template of a model says, of which nothing is asked here. */
const fitness = {
  tools: 'own',
  notation: null,
  isConfigured: false,
  exampleCall: null,
  history: null,
  thinking: null,
  system: '',
  lateSystem: '',
} as const

const prepared = new Map<TaskId, Task>()
const running = new Map<TaskId, Task>()
const made = new Map<TaskId, number>()
const pacer = new Pacer<Task>(readPace(), (due) => tell({ kind: 'events', batch: due.flatMap(eventsOf) }))
let steps = 0

const parts = new PartReceiver()
process.on('message', (message: ToChild | ToTextChild | PartToChild) => {
  const whole = parts.take(message)
  if (whole !== null) receive(whole)
})
process.on('disconnect', () => process.exit(0))
await new Promise(() => {})

function receive(message: ToChild | ToTextChild): void {
  switch (message.kind) {
    case 'load':
      return tell({ kind: 'ready', windowTokens: 1_000_000, slots, threads: 1, tokenBytesMax: 64, fitness })
    case 'generate':
      return prepare(message)
    case 'prepare':
      return tell({ kind: 'text', id: message.id, text: textOf(countTokens(message.request)) })
    case 'begin':
      return begin(message.id, message.outputTokensMax)
    case 'count':
      return tell({ kind: 'counted', id: message.id, tokens: countTokens(message.request) })
    case 'abort':
      return abort(message.id)
    case 'ping':
      return tell({ kind: 'pong', steps, isBusy: running.size > 0, drafts: { drafted: 0, accepted: 0 } })
    case 'stop':
      return process.exit(0)
    // Nobody asks for its vocabulary, and nobody limits what it makes.
    case 'describe':
    case 'allow':
    case 'taken':
    case 'resize-cache':
      return
  }
}

function textOf(tokens: number): PreparedText {
  const nothing = { thinks: false, startsThinking: false, breakpoints: [], conversationLength: tokens, blocks: [] }
  const plan = { forced: null, lazy: null, readsCalls: false, isCallsOnly: false, banned: [], unenforced: [] }
  return { prompt: { ...nothing, tokens: new Uint32Array(tokens) }, plan }
}

function prepare({ id, request, text, optimisticTerms }: Generate): void {
  const inputTokens = text?.prompt.tokens.length ?? countTokens(request)
  const task = { id, inputTokens, tokensMax: request.outputTokensMax }
  prepared.set(id, task)
  tell({ kind: 'prepared', id, inputTokens: task.inputTokens, unenforced: [] })
  if (optimisticTerms !== null && task.inputTokens <= optimisticTerms.inputTokensMax)
    begin(id, optimisticTerms.outputTokensMax)
}

function begin(id: TaskId, outputTokensMax: number): void {
  const task = prepared.get(id)
  if (task === undefined) return
  prepared.delete(id)
  running.set(id, task)
  made.set(id, 0)
  tell({ kind: 'events', batch: [[id, { type: 'start', usage: usageOf(task) }]] })
  pacer.begin(task, Math.min(task.tokensMax, outputTokensMax))
}

function abort(id: TaskId): void {
  const task = running.get(id) ?? prepared.get(id)
  if (task === undefined) return
  const usage = running.has(id) ? usageOf(task) : zeroUsage
  pacer.leave(task)
  forget(id)
  tell({ kind: 'aborted', id, usage })
}

function eventsOf(due: Due<Task>): EventBatch {
  const { answer: task, isFirst, isLast } = due
  const { id } = task
  made.set(id, (made.get(id) ?? 0) + due.tokens)
  steps += 1
  const events: GenerationEvent[] = wordsOf(due).map((text) => ({ type: 'delta', text, tokens: 1 }))
  if (isFirst) events.unshift({ type: 'block-start', block: { kind: 'text' } })
  if (isLast) {
    events.push({ type: 'block-end' }, { type: 'finish', reason: { kind: 'length' }, usage: usageOf(task) })
    forget(id)
  }
  return events.map((event) => [id, event] as const)
}

function usageOf({ id, inputTokens }: Task): Usage {
  return { ...zeroUsage, inputUncached: inputTokens, output: made.get(id) ?? 0 }
}

function forget(id: TaskId): void {
  for (const tasks of [prepared, running, made]) tasks.delete(id)
}

function countTokens({ messages }: Generate['request']): number {
  let bytes = 0
  for (const { content } of messages) for (const block of content) if ('text' in block) bytes += block.text.length
  return promptTokensOf(bytes)
}

function tell(message: FromChild | FromTextChild): void {
  if (process.connected) process.send?.(message)
}
