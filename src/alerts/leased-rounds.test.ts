import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { createLog } from '../telemetry/log.ts'
import { startRounds } from './leased-rounds.ts'

test('what fell due while a round was ending is tried before the look that was asked for is over', async (t) => {
  const due: string[] = []
  const tried: string[][] = []
  const begun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  let isLeased = false
  const rounds = startRounds({
    clock: createManualClock(),
    log: createLog('silent'),
    words: { look: 'look', work: 'work' },
    describe: () => ({}),
    findDue: () => Promise.resolve(isLeased ? [] : ['channel']),
    async work() {
      isLeased = true
      tried.push([...due])
      begun.resolve()
      await mayEnd.promise
      isLeased = false
    },
  })
  t.after(() => rounds.close())
  const first = rounds.look()
  await begun.promise
  due.push('event')
  const second = rounds.look()
  mayEnd.resolve()
  await Promise.all([first, second])
  deepEqual(tried, [[], ['event']])
})
