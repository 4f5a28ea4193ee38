import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ReplicaFault, type ReplicaRecord } from './dialect.ts'
import { ElementsBody, EventSplitter, LineSplitter, WholeBody, type RecordSplitter } from './record-splitters.ts'

const valuesOf = (records: readonly ReplicaRecord[]) =>
  records.map((record) => (record.kind === 'json' ? record.value : record.kind))

function valuesIn(splitter: RecordSplitter, text: string, pieceBytes: number): unknown[] {
  const bytes = Buffer.from(text)
  const values: unknown[] = []
  for (let start = 0; start < bytes.length; start += pieceBytes)
    values.push(...valuesOf(splitter.push(bytes.subarray(start, start + pieceBytes))))
  return [...values, ...valuesOf(splitter.end())]
}

const megabyte = 1_024 * 1_024

test('events are split as they are written, however they come', () => {
  const text = ': hello\r\n\r\nevent: x\ndata: {"a":"ä\\n"}\n\n\n\ndata:[1,\ndata: 2]\r\n\r\nid: 7\n\ndata: [DONE]\n\n'
  for (const pieceBytes of [1, 3, 1_000])
    deepEqual(valuesIn(new EventSplitter(), text, pieceBytes), [{ a: 'ä\n' }, [1, 2], 'done'], String(pieceBytes))
  for (const cut of ['data: 1\n', 'data: 1', 'da'])
    throws(() => valuesIn(new EventSplitter(), cut, 2), ReplicaFault, cut)
  throws(() => valuesIn(new EventSplitter(), 'data: 1\n\nerror: gone\n\n', 100), ReplicaFault)
  throws(() => valuesIn(new EventSplitter(), 'data: {\n\n', 100), ReplicaFault)
})

test('lines are split as they are written, however they come', () => {
  for (const pieceBytes of [1, 3, 1_000])
    deepEqual(valuesIn(new LineSplitter(), '{"a":"ä"}\n\n \r\n[1]\r\n2\n', pieceBytes), [{ a: 'ä' }, [1], 2])
  throws(() => valuesIn(new LineSplitter(), '1\n2', 100), ReplicaFault)
})

test('the elements of an array of a body come before the rest of it, however they come', () => {
  const told = [{ id: 1, token: ' "told":[', top: [[1], { a: ']}' }] }, { id: 2, token: '\\"', top: [] }, 'ä,']
  const body = { content: '"told":[7]', prompt: 'x'.repeat(40), told, behind: { told: 1, end: [1, 2] } }
  const expected = [...told, { ...body, told: [] }]
  for (const pieceBytes of [1, 2, 7, 30, 10_000])
    deepEqual(valuesIn(new ElementsBody('told'), JSON.stringify(body), pieceBytes), expected, String(pieceBytes))
  for (const other of [{ content: '"told":[7]' }, { told: [] }, { told: { a: [1] } }, []])
    deepEqual(valuesIn(new ElementsBody('told'), JSON.stringify(other), 3), [other], JSON.stringify(other))
  for (const cut of ['{"told":[1', '{"told":[1,', '{"told":[1]', '{"told":[', '{"to', ''])
    throws(() => valuesIn(new ElementsBody('told'), cut, 3), ReplicaFault, cut)
})

test('a record without an end is given up, whatever it is made of', () => {
  const isGivenUp = (splitter: RecordSplitter, begun: string, more: string) => {
    const bytes = Buffer.from(more.repeat(Math.ceil(megabyte / more.length)))
    splitter.push(Buffer.from(begun))
    for (let pushed = 0; pushed < 60 && more.length > 100; pushed++) splitter.push(bytes)
    throws(() => {
      for (let pushed = 0; pushed < 70; pushed++) splitter.push(bytes)
    }, ReplicaFault)
  }
  isGivenUp(new EventSplitter(), 'data: ', 'x'.repeat(1_000))
  isGivenUp(new EventSplitter(), '', `data: ${'x'.repeat(1_000)}\n`)
  isGivenUp(new EventSplitter(), '', 'data:\n')
  isGivenUp(new LineSplitter(), '', 'x'.repeat(1_000))
  isGivenUp(new WholeBody(), '', 'x'.repeat(1_000))
  isGivenUp(new ElementsBody('told'), '', 'x'.repeat(1_000))
  isGivenUp(new ElementsBody('told'), '{"told":[', 'x'.repeat(1_000))
})

test('what has ended counts no more for what follows', () => {
  const million = '1'.repeat(1_000_000)
  const events = new EventSplitter()
  const elements = new ElementsBody('told')
  elements.push(Buffer.from('{"told":[0'))
  let read = 0
  for (let pushed = 0; pushed < 100; pushed++) {
    read += events.push(Buffer.from(`data: ${million}\n\n`)).length
    read += elements.push(Buffer.from(`,"${million}"`)).length
  }
  equal(read, 200)
  ok(elements.push(Buffer.from(']}')).length === 1)
})
