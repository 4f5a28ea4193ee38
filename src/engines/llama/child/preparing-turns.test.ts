import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { PreparingTurns } from './preparing-turns.ts'

/** Longer than all that is done beside a short step. */
const longMs = 6

/** Turns by a clock that only work moves on. */
function createTurns(isBusy: () => boolean = () => true) {
  let nowMs = 0
  const turns = new PreparingTurns(isBusy, () => nowMs)
  const work = (ms: number) => void (nowMs += ms)
  return { turns, work }
}

test('beside one step no more is prepared than a few milliseconds of it, and of each key another one in turn', () => {
  const { turns, work } = createTurns()
  const done: string[] = []
  const run = (key: string, name: string) =>
    turns.run(key, () => {
      work(longMs)
      done.push(name)
    })
  run('flood', 'a1')
  run('flood', 'a2')
  run('flood', 'a3')
  run('other', 'b1')
  run('other', 'b2')
  const afterEach: string[][] = []
  for (let step = 0; step < 5; step++) {
    turns.proceed(0)
    afterEach.push([...done])
  }
  deepEqual(
    afterEach.map((names) => names.length),
    [2, 3, 4, 5, 5],
  )
  deepEqual(done, ['a1', 'a2', 'b1', 'a3', 'b2'])
})

test('short ones are prepared together beside a step', () => {
  const { turns, work } = createTurns()
  const done: number[] = []
  const run = (number: number, ms: number) =>
    turns.run('key', () => {
      work(ms)
      done.push(number)
    })
  run(0, longMs)
  run(1, 0)
  run(2, 0)
  run(3, 0)
  deepEqual(done, [0])
  turns.proceed(0)
  deepEqual(done, [0, 1, 2, 3])
})

test('all are prepared at once where nobody is answered', () => {
  let isBusy = true
  const { turns, work } = createTurns(() => isBusy)
  const done: number[] = []
  const run = (number: number) =>
    turns.run('key', () => {
      work(longMs)
      done.push(number)
    })
  run(0)
  run(1)
  run(2)
  isBusy = false
  turns.proceed(0)
  run(3)
  deepEqual(done, [0, 1, 2, 3])
})

test('more is prepared beside a step that takes long', () => {
  const { turns, work } = createTurns()
  const done: number[] = []
  const run = (number: number) =>
    turns.run('key', () => {
      work(longMs)
      done.push(number)
    })
  run(0)
  run(1)
  run(2)
  run(3)
  run(4)
  turns.proceed(longMs * 10)
  deepEqual(done, [0, 1, 2, 3])
  turns.proceed(0)
})
