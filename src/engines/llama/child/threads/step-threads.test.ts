import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { StepThreads } from './step-threads.ts'

/** A step that has no processor looks like this to the kernel's accounting, in which all of this process counts. */
const heldUp = async () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 120)

async function threadsOf(adapts: boolean, steps: readonly ('answers' | 'prompts')[]): Promise<number[]> {
  const given: number[] = []
  const threads = new StepThreads({ setThreads: (count) => given.push(count) }, { first: 2, most: 2 }, adapts)
  for (const kind of steps) await threads.run(kind, 1, heldUp)
  return given
}

test('the step after one that was held up has fewer threads', async () => {
  const [, second] = await threadsOf(true, ['answers', 'answers'])
  equal(second, 1)
})

test('the first step after a rest has another thread where nobody used the machine, and gives none up where others did', async () => {
  for (const [free, first, expected] of [
    [2, 1, 2],
    [0.5, 1, 1],
    [0.5, 2, 2],
  ] as const) {
    const given: number[] = []
    const library = { setThreads: (count: number) => void given.push(count) }
    const threads = new StepThreads(library, { first, most: 2 }, true, { read: () => ({ overMs: 5_000, free }) })
    await threads.run('prompts', 64, async () => {})
    deepEqual(given, [expected], `${free} processors were free`)
  }
})

test('where answers must be reproducible the number of threads never changes', async () => {
  deepEqual(await threadsOf(false, ['answers', 'answers', 'prompts']), [])
})
