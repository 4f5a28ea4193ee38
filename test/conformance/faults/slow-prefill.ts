import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { letRun } from '../../harness/manual-clock.ts'
import { answer, slowlyBegun, type FaultyService } from './faulty-service.ts'
import { forEveryClient } from './for-every-client.ts'
import { ask } from './outcome.ts'

/** Defines a test for each client and way that waits so long for the first token, in real time. */
export function defineSlowPrefill(seconds: number): void {
  forEveryClient((client, way) => {
    test(`a first token after ${seconds} seconds is waited for, ${way}`, async () => {
      let stopClock = () => {}
      let isRunning = false
      const meanwhile = ({ clock }: FaultyService) => {
        if (!isRunning) stopClock = letRun(clock)
        isRunning = true
      }
      const waitMs = seconds * 1_000
      const startedMs = performance.now()
      const circumstances = { always: slowlyBegun(waitMs), meanwhile, patienceMs: waitMs + 30_000 }
      const { text, error, requests, answers } = await ask(client, way, circumstances)
      const tookMs = performance.now() - startedMs
      stopClock()
      deepEqual({ text, requests }, { text: answer, requests: 1 }, error ?? '')
      ok(tookMs >= waitMs, `It took ${tookMs} ms.`)
      const signs = (answers[0] ?? '').match(way === 'streamed' ? /: keep-alive|event: ping/g : /^ +/)
      ok(signs !== null || (way === 'whole' && seconds < 30), 'There was no sign of life.')
    })
  })
}
