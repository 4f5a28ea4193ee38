import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { SpanBook, type Span } from './span-book.ts'

const day = 86_400_000
const nobody = new Map<string, number>()

/** Beats every ten seconds, by a clock that is wrong by what is given for each of them. Returns the spans in the end. */
function beatWith(errors: readonly number[], everyMs = 10_000): Pick<Span, 'subject' | 'fromMs' | 'untilMs'>[] {
  const book = new SpanBook(0, errors[0] ?? 0)
  const spans = new Map<number, Span>()
  errors.forEach((errorMs, beat) => {
    book.beat(beat * everyMs, beat * everyMs + errorMs, new Map([['hal', beat * everyMs]]))
    for (const span of book.takeChanged()) spans.set(span.number, span)
  })
  return [...spans.values()].map(({ subject, fromMs, untilMs }) => ({ subject, fromMs, untilMs }))
}

test('what beats and is seen all the time is one span each', () => {
  deepEqual(beatWith([0, 0, 0, 0]), [
    { subject: '', fromMs: 0, untilMs: 30_000 },
    { subject: 'hal', fromMs: 0, untilMs: 30_000 },
  ])
})

test('a gateway that could not beat for longer than it may be silent begins another span', () => {
  deepEqual(
    beatWith([0, 0], 30_001).filter(({ subject }) => subject === ''),
    [
      { subject: '', fromMs: 0, untilMs: 0 },
      { subject: '', fromMs: 30_001, untilMs: 30_001 },
    ],
  )
  deepEqual(beatWith([0, 0], 30_000).length, 2)
})

test('a clock that was a day ahead for a while leaves no gap, and nothing in the day to come', () => {
  const spans = beatWith([0, 0, day, day, day, 0, 0])
  deepEqual(spans, [
    { subject: '', fromMs: 0, untilMs: 10_000 },
    { subject: 'hal', fromMs: 0, untilMs: 10_000 },
    { subject: '', fromMs: 10_000, untilMs: 60_000 },
    { subject: 'hal', fromMs: 10_000, untilMs: 60_000 },
  ])
})

test('a clock that was a day behind for a while changes nothing', () => {
  deepEqual(beatWith([0, 0, -day, -day, 0, 0]), [
    { subject: '', fromMs: 0, untilMs: 50_000 },
    { subject: 'hal', fromMs: 0, untilMs: 50_000 },
  ])
})

test('a clock that was a day ahead from the start on is believed once it is right', () => {
  deepEqual(beatWith([day, day, 0, 0]), [
    { subject: '', fromMs: 0, untilMs: 30_000 },
    { subject: 'hal', fromMs: 0, untilMs: 30_000 },
  ])
})

test('the time that a machine slept is a gap', () => {
  deepEqual(
    beatWith([0, 0, 3_600_000, 3_600_000]).filter(({ subject }) => subject === ''),
    [
      { subject: '', fromMs: 0, untilMs: 10_000 },
      { subject: '', fromMs: 3_620_000, untilMs: 3_630_000 },
    ],
  )
})

test('a model that failed has a span that says with what, and another one when it is seen again', () => {
  const book = new SpanBook(0, 0)
  book.beat(0, 0, new Map([['hal', 0]]))
  book.end('hal', 'engine-failed')
  book.beat(10_000, 10_000, nobody)
  book.beat(20_000, 20_000, new Map([['hal', 15_000]]))
  const own = book.takeChanged().filter(({ subject }) => subject === 'hal')
  deepEqual(
    own.map(({ fromMs, untilMs, endedBy }) => [fromMs, untilMs, endedBy]),
    [
      [0, 0, 'engine-failed'],
      [15_000, 15_000, null],
    ],
  )
})
