import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { StepThreads } from './step-threads.ts'

/** A step that has no processor looks like this to the kernel's accounting. */
const heldUp = () => setTimeout(40)

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

test('where answers must be reproducible the number of threads never changes', async () => {
  deepEqual(await threadsOf(false, ['answers', 'answers', 'prompts']), [])
})
