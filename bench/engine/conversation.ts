// One conversation that grows by a question and its answer, and what each turn takes.

import { readdirSync, readFileSync } from 'node:fs'
import type { Service } from '../../test/harness/start-service.ts'
import type { Contestant } from './contestant.ts'
import { readAnswer } from './read-answer.ts'
import { measureTexts, type WriteText } from './texts.ts'

export type Turn = {
  /** From the request to the first text. */
  readonly firstTextMs: number
  /** What the service and its engine computed meanwhile; null where the system does not tell. */
  readonly processorMs: number | null
  readonly cachedPercent: number
}

type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

const answerTokens = 4

export class LongConversation {
  readonly #write: WriteText
  readonly #messages: Message[]
  #turns = 0

  constructor(write: WriteText, tokens: number) {
    this.#write = write
    this.#messages = [{ role: 'system', content: write('A long beginning', tokens) }]
  }

  async next(service: Service): Promise<Turn> {
    this.#turns += 1
    this.#messages.push({ role: 'user', content: this.#write(`Question ${this.#turns}`, 40) })
    const enginePid = await service.enginePid()
    const processorMs = () => sum(processorMsOf(service.pid), processorMsOf(enginePid))
    const before = processorMs()
    let after: number | null = null
    const answer = await readAnswer(service.address, service.key, toRequest(this.#messages), () => {
      after = processorMs()
    })
    this.#messages.push({ role: 'assistant', content: answer.text })
    return {
      firstTextMs: answer.firstMs - answer.startMs,
      processorMs: before === null || after === null ? null : after - before,
      cachedPercent: (100 * answer.cachedTokens) / answer.promptTokens,
    }
  }
}

/** Finds out how long words are, which also has the service read its weights from the disk. */
export async function openConversation(service: Service, tokens: number): Promise<LongConversation> {
  const asked: Contestant = {
    name: 'Odyssey',
    ask: ({ system, question }) =>
      readAnswer(
        service.address,
        service.key,
        toRequest([
          { role: 'system', content: system },
          { role: 'user', content: question },
        ]),
      ),
    restart: null,
    stop: () => service.stop(),
  }
  return new LongConversation(await measureTexts([asked]), tokens)
}

function toRequest(messages: readonly Message[]): object {
  return { model: 'clarke-1.0', messages, temperature: 0, max_tokens: answerTokens, min_tokens: answerTokens }
}

/** Of all threads of a process. Only Linux tells it this exactly. */
function processorMsOf(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const folder = `/proc/${pid}/task`
  const nanoseconds = readdirSync(folder).map((thread) => {
    try {
      return Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // A thread that has ended in the meantime.
      return 0
    }
  })
  return nanoseconds.reduce((total, one) => total + one, 0) / 1e6
}

function sum(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other
}
