import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { createProgress } from './progress.ts'

function start(isTerminal: boolean) {
  const clock = createManualClock()
  let text = ''
  const progress = createProgress({ write: (piece) => (text += piece), isTerminal, clock })
  return { clock, progress, text: () => text }
}

test('a terminal is shown one line that changes', () => {
  const { clock, progress, text } = start(true)
  progress.begin('a.gguf')
  for (let second = 0; second <= 4; second++) {
    progress.report(second * 1e9, 8e9)
    clock.advance(1_000)
  }
  progress.say('The connection was cut.')
  assert.equal(text().split('\n').length, 3)
  const last = text().split('\r').at(-1)
  assert.equal(
    last,
    'a.gguf  ████████████░░░░░░░░░░░░  50 %  4.00 GB of 8.00 GB  1.00 GB/s  0:04 left\u001b[K\nThe connection was cut.\n',
  )
})

test('a log file gets a line now and then, and one at the end', () => {
  const { clock, progress, text } = start(false)
  progress.begin('a.gguf')
  for (let second = 0; second <= 70; second++) {
    progress.report(second, 70)
    clock.advance(1_000)
  }
  progress.end()
  assert.deepEqual(
    text()
      .split('\n')
      .map((line) => /\d+ %/.exec(line)?.[0]),
    ['42 %', '85 %', '100 %', undefined],
  )
  assert.ok(!text().includes('\r'))
})

test('a size that is not known is no obstacle', () => {
  const { progress, text } = start(true)
  progress.begin('a.gguf')
  progress.report(1_500_000, null)
  assert.equal(text(), '\ra.gguf  1.50 MB\u001b[K')
})
