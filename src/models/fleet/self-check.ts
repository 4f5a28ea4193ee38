import type { Engine } from '../../core/engine.ts'
import { leastRequest } from '../../core/least-request.ts'
import { runAlone } from '../../core/run-alone.ts'

/** A first token may need all weights read from a slow disk. */
const answerMsMax = 300_000

/** Whoever answers it has a template, a context and a sampler that work. */
const request = leastRequest('Hello')

/** Has an engine generate one token. Throws when it cannot. */
export async function selfCheck(engine: Engine): Promise<void> {
  for await (const event of runAlone(engine, request, AbortSignal.timeout(answerMsMax))) {
    if (event.type === 'finish') return
  }
  throw new Error('The engine ended its answer without finishing it.')
}
