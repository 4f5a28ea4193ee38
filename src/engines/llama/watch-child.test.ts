import { deepEqual, equal } from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { watchForHang } from './watch-child.ts'

/** A child that is as silent, and as long without a processor, as a test has it. */
function openChild() {
  const clock = createManualClock()
  const said = new EventEmitter()
  const kills: string[] = []
  let waitedMs: number | null = 0
  const child = {
    pid: 1,
    connected: true,
    on: (_event: 'message', listener: (message: { kind: 'pong'; steps: number; isBusy: boolean }) => void) =>
      void said.on('message', listener),
    send: () => {},
    kill: (signal: string) => void kills.push(signal),
  }
  const stop = watchForHang(child, clock, { patientUntilMs: () => 0, waitedMs: () => waitedMs })
  return {
    kills,
    stop,
    answer: () => said.emit('message', { kind: 'pong', steps: 0, isBusy: false }),
    /** So many seconds pass, of which others had the processors for a share. */
    async pass(seconds: number, shareOfOthers = 0) {
      for (let second = 0; second < seconds && kills.length === 0; second++) {
        if (waitedMs !== null) waitedMs += 1_000 * shareOfOthers
        clock.advance(1_000)
        clock.advance(0)
        await setImmediate()
      }
    },
    tellsNothing() {
      waitedMs = null
    },
  }
}

describe('a child that says nothing', () => {
  it('is ended after ten seconds where it could have run', async () => {
    const child = openChild()
    child.answer()
    await child.pass(10)
    deepEqual(child.kills, [])
    await child.pass(2)
    deepEqual(child.kills, ['SIGKILL'])
    child.stop()
  })

  it('is waited for while others have the processors, and no longer', async () => {
    const child = openChild()
    child.answer()
    await child.pass(60, 0.95)
    deepEqual(child.kills, [])
    await child.pass(12)
    deepEqual(child.kills, ['SIGKILL'])
    child.stop()
  })

  it('is not waited for without end, however busy the machine is', async () => {
    const child = openChild()
    child.answer()
    await child.pass(140, 1)
    deepEqual(child.kills, ['SIGKILL'])
    child.stop()
  })

  it('has what it waited before its last word counted for nothing', async () => {
    const child = openChild()
    child.answer()
    await child.pass(30, 0.95)
    child.answer()
    await child.pass(12)
    deepEqual(child.kills, ['SIGKILL'])
    child.stop()
  })

  it('is ended after ten seconds where nobody can tell how long it waited', async () => {
    const child = openChild()
    child.tellsNothing()
    child.answer()
    await child.pass(12)
    equal(child.kills.length, 1)
    child.stop()
  })
})
