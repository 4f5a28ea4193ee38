import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { processorWaitMs } from './processor-wait.ts'

const skip = process.platform === 'linux' ? false : 'only Linux tells how long a process has waited'

test('how long a process has waited for a processor only grows', { skip }, () => {
  const before = processorWaitMs(process.pid)
  ok(before !== null && before >= 0)
  ok((processorWaitMs(process.pid) ?? -1) >= before)
})

test('a process that is not there has waited for nothing that could be told', () => {
  equal(processorWaitMs(undefined), null)
  equal(processorWaitMs(2 ** 30), null)
})
