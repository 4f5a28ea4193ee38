// One conversation that grows by a question and its answer, and what each turn takes.

import type { Service } from '../../test/harness/start-service.ts'
import { useOf } from '../process-use.ts'
import type { Contestant } from './contestant.ts'
import { cachedPercent, firstTextMs } from './measures.ts'
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
    const processorMs = () => processorMsOf(service.pid, enginePid)
    const before = processorMs()
    let after: number | null = null
    const answer = await readAnswer(service.address, service.key, toRequest(this.#messages), () => {
      after = processorMs()
    })
    this.#messages.push({ role: 'assistant', content: answer.text })
    return {
      firstTextMs: firstTextMs(answer),
      processorMs: before === null || after === null ? null : after - before,
      cachedPercent: cachedPercent(answer),
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

function processorMsOf(...pids: readonly number[]): number | null {
  try {
    return pids.reduce((sum, pid) => sum + useOf(pid).cpuMs, 0)
  } catch {
    return null
  }
}
