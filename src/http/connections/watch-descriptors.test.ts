import { deepEqual, ok } from 'node:assert/strict'
import { openSync, closeSync } from 'node:fs'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { countDescriptors, readDescriptorsMax, watchDescriptors } from './watch-descriptors.ts'

test('it is warned once each time that descriptors run out', async () => {
  const clock = createManualClock()
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => warned.push(fields) } as unknown as Log
  let open = 0
  const stop = watchDescriptors({ clock, log, descriptorsMax: 100, count: () => Promise.resolve(open) })
  for (open of [50, 79, 80, 95, 75, 99, 60, 85]) {
    clock.advance(10_000)
    await turn()
  }
  stop()
  open = 100
  clock.advance(60_000)
  deepEqual(
    warned,
    [80, 85].map((descriptors) => ({ descriptors, descriptors_max: 100 })),
  )
})

test('descriptors of this process are counted, and their limit is known', async () => {
  const before = (await countDescriptors()) ?? 0
  const files = Array.from({ length: 20 }, () => openSync(import.meta.filename, 'r'))
  const after = (await countDescriptors()) ?? 0
  for (const file of files) closeSync(file)
  ok(after >= before + 20, `${before} and then ${after}`)
  ok((readDescriptorsMax() ?? 0) > after)
})
