import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { GrownArrays } from './grown-arrays.ts'

const record = (text: string, ids: readonly number[], pairs: readonly unknown[]) =>
  Buffer.from(JSON.stringify({ text, ids, about: { count: ids.length, pairs, end: null } }))

test('of arrays that grow from record to record the new elements are read', () => {
  const arrays = new GrownArrays(['ids', 'pairs'])
  const read = (...parts: Parameters<typeof record>) => arrays.read(record(...parts))
  const about = (count: number, ...pairs: unknown[]) => ({ count, pairs, end: null })
  deepEqual(read('a', [5], [[-1, 'x]']]), { ids: [5], about: about(1, [-1, 'x]']) })
  deepEqual(
    read(
      'a"ids":[9',
      [5, 6, 7],
      [
        [-1, 'x]'],
        [2, '"'],
      ],
    ),
    { ids: [6, 7], about: about(3, [2, '"']) },
  )
  deepEqual(
    read(
      'abc',
      [5, 6, 7],
      [
        [-1, 'x]'],
        [2, '"'],
      ],
    ),
    { ids: [], about: about(3) },
  )
  deepEqual(read('abcd', [5, 6, 7, 8], [[-1, 'x]'], [2, '"'], []]), { ids: [8], about: about(4, []) })
})

test('an array that does not begin as the one of the record before is none that has grown', () => {
  const of = (before: readonly number[], ids: readonly number[]) => {
    const arrays = new GrownArrays(['ids'])
    arrays.read(record('', before, []))
    return [arrays.read(record('', ids, [])), arrays.read(record('', ids, []))] as const
  }
  const whole = (ids: readonly number[]) => ({ ids, about: { count: ids.length, pairs: [], end: null } })
  for (const [before, ids] of [
    [[5, 6], [5]],
    [
      [5, 6],
      [5, 7, 6],
    ],
    [[50], [504]],
    [
      [5, 50],
      [5, 504, 6],
    ],
    [[5], []],
  ] as const)
    deepEqual(of(before, ids), [undefined, whole(ids)], JSON.stringify([before, ids]))
})

test('what has no such array, or is no JSON, is nothing', () => {
  const arrays = new GrownArrays(['ids'])
  for (const text of ['', '{}', '{"id":[1]}', '{"ids":[1,2', '{"ids":[1]', '{"ids":[1}}', '{"ids":[1],x}'])
    equal(arrays.read(Buffer.from(text)), undefined, text)
})
