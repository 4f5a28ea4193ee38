import { deepEqual, ok, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { StepPlanner, type Work, ServedKeys } from './step-planner.ts'

/** A machine on which a step takes 5 ms, each prompt token 1 ms and each answer `answerMs`. */
function machine(answerMs: number) {
  const planner = new StepPlanner(512)
  let nowMs = 0
  return (works: readonly Work[]) => {
    const lengths = planner.plan(works, nowMs)
    const msOf = (length: number, at: number) => length * (works[at]?.kind === 'answer' ? answerMs : 1)
    const ms = 5 + lengths.reduce((sum, length, at) => sum + msOf(length, at), 0)
    nowMs += ms
    planner.measure(ms, 0, nowMs)
    return { lengths, ms }
  }
}

const answer = (key: string): Work => ({ key, kind: 'answer', need: 1, left: 1, position: 0, choosingMs: 0 })
const prompt = (key: string, left: number, position = 0): Work => ({
  key,
  kind: 'prompt',
  need: Math.min(512, left),
  left,
  position,
  choosingMs: 0,
})

test('an answer whose tokens are dear to choose takes no more than its share of the time from that of another key', () => {
  const planner = new StepPlanner(512)
  let nowMs = 0
  const works: readonly Work[] = [
    answer('b'),
    ...Array.from({ length: 6 }, () => ({ ...answer('dear'), choosingMs: 40 })),
  ]
  const spentMs = { b: 0, dear: 0 }
  for (let step = 0; step < 2_000; step++) {
    const lengths = planner.plan(works, nowMs)
    const stepMs = 5 + lengths.reduce((sum, length) => sum + length, 0)
    nowMs += stepMs
    planner.measure(stepMs, 0, nowMs)
    works.forEach(({ key, choosingMs }, at) => {
      if (lengths[at] !== 1) return
      nowMs += choosingMs
      planner.serve(key, choosingMs, nowMs)
      spentMs[key as 'b' | 'dear'] += choosingMs + 1
    })
    spentMs.b += lengths[0] === 1 ? 5 : 0
  }
  const share = spentMs.dear / (spentMs.b + spentMs.dear)
  ok(share >= 0.2 && share <= 0.7, `a share of ${share}`)
})

/** How much of each work was computed in `steps` steps. */
function compute(step: ReturnType<typeof machine>, works: readonly Work[], count: number) {
  const computed = works.map(() => 0)
  for (let left = count; left > 0; left--)
    for (const [at, length] of step(works).lengths.entries()) computed[at] = (computed[at] ?? 0) + length
  return computed
}

test('a key that is alone has the whole of each step', () => {
  const step = machine(1)
  compute(step, [prompt('a', 100_000)], 40)
  const { lengths, ms } = step([prompt('a', 100_000), prompt('a', 100_000), answer('a')])
  ok(ms >= 140 && ms <= 250, `${ms} ms`)
  deepEqual(lengths[2], 1)
})

test('a short prompt is computed before long ones of a key that was served more', () => {
  const step = machine(1)
  compute(
    step,
    Array.from({ length: 7 }, () => prompt('flood', 100_000)),
    100,
  )
  const { lengths, ms } = step([...Array.from({ length: 7 }, () => prompt('flood', 100_000)), prompt('other', 30)])
  deepEqual(lengths[7], 30)
  ok(ms <= 60, `a step of ${ms} ms beside a prompt that takes 35`)
})

test('beside the answer of another key a flood of prompts takes a fifth of the time', () => {
  const step = machine(5)
  compute(step, [answer('b'), answer('b'), prompt('flood', 100_000)], 100)
  let besidesMs = 0
  let tokens = 0
  for (let count = 0; count < 200; count++) {
    const { lengths, ms } = step([answer('b'), prompt('flood', 100_000)])
    deepEqual(lengths[0], 1)
    besidesMs += ms
    tokens += lengths[1] ?? 0
  }
  ok(besidesMs / 200 <= 10 * 1.3, `${besidesMs / 200} ms a step where one alone takes 10`)
  ok(tokens >= 200, `${tokens} tokens of the prompt`)
})

test('a long prompt is computed beside an answer that was never beside another one', () => {
  const step = machine(5)
  compute(step, [answer('b')], 100)
  const [, computed = 0] = compute(step, [answer('b'), prompt('long', 100_000)], 400)
  ok(computed >= 200, String(computed))
})

test('what a flood could not use beside answers is not spent at once beside the next prompt', () => {
  const step = machine(5)
  const flood = [prompt('flood', 100_000), prompt('flood', 100_000)]
  compute(step, flood, 100)
  compute(step, [answer('b')], 20)
  compute(step, [answer('b'), ...flood], 300)
  compute(step, flood, 20)
  const { lengths, ms } = step([...flood, prompt('b', 8)])
  deepEqual(lengths[2], 8)
  ok(ms <= 13 * 1.8, `${ms} ms where the prompt alone takes 13`)
})

test('prompts that are held back are computed one at a time, in turn', () => {
  const step = machine(5)
  const flood = ['x', 'x', 'y'].map((key) => prompt(key, 100_000))
  compute(step, flood, 100)
  compute(step, [answer('b')], 20)
  const computed = flood.map(() => 0)
  for (let count = 0; count < 600; count++) {
    const [, ...lengths] = step([answer('b'), ...flood]).lengths
    ok(lengths.filter((length) => length > 0).length <= 1, lengths.join(' '))
    for (const [at, length] of lengths.entries()) computed[at] = (computed[at] ?? 0) + length
  }
  const [first = 0, second = 0, other = 0] = computed
  ok(Math.abs(first - second) <= 30, computed.join(' '))
  ok(Math.abs(first + second - other) <= other * 0.2, computed.join(' '))
})

test('many answers of one key hold up those of another hardly at all where each takes time', () => {
  const step = machine(5)
  const flood = Array.from({ length: 7 }, () => answer('flood'))
  for (let count = 1; count <= 7; count++) compute(step, flood.slice(0, count), 60)
  let ms = 0
  const computed = flood.map(() => 0)
  for (let count = 0; count < 60; count++) {
    const taken = step([...flood, answer('other')])
    ms += taken.ms
    deepEqual(taken.lengths[7], 1)
    for (const [at] of flood.entries()) computed[at] = (computed[at] ?? 0) + (taken.lengths[at] ?? 0)
  }
  ok(ms / 60 <= 13, `${ms / 60} ms a step where one alone takes 10`)
  ok(Math.min(...computed) >= 1 && Math.max(...computed) - Math.min(...computed) <= 1, computed.join(' '))
})

test('answers that take no time together are all computed in each step, whoever was served more', () => {
  const step = machine(0)
  const flood = Array.from({ length: 7 }, () => answer('flood'))
  for (let count = 1; count <= 7; count++) compute(step, flood.slice(0, count), 60)
  deepEqual(compute(step, [...flood, answer('other')], 10), Array(8).fill(10))
})

test('answers of keys that were served alike are computed together', () => {
  const step = machine(5)
  deepEqual(compute(step, [answer('a'), answer('b'), answer('c')], 300), [300, 300, 300])
})

test('where somebody was served of late and is not there, steps are short', () => {
  const step = machine(1)
  compute(step, [prompt('flood', 100_000)], 40)
  compute(step, [prompt('other', 30), prompt('flood', 100_000)], 1)
  const { ms } = step([prompt('flood', 100_000)])
  ok(ms <= 45, `${ms} ms`)
})

test('a long prompt beside endless short ones of another key is computed all the same', () => {
  const step = machine(5)
  const [, computed = 0] = compute(step, [prompt('short', 30), prompt('long', 100_000)], 500)
  // A quarter of 35 ms is added to each step. Eight tokens take that, and five more that the planner takes them to cost.
  ok(computed >= 2_500, String(computed))
})

test('service of a key counts half after three seconds and is forgotten in the end', () => {
  const served = new ServedKeys()
  served.add('a', 1_000, 0)
  equal(served.of('a', 0), 1_000)
  equal(served.of('a', 3_000), 500)
  ok(served.of('a', 60_000) < 1)
  equal(served.of('b', 0), 0)
})

test('a key that was served of late is expected again, and one that is there is not', () => {
  const served = new ServedKeys()
  served.add('a', 1_000, 0)
  equal(served.expectsOthers(new Set(['a']), 100), false)
  equal(served.expectsOthers(new Set(['b']), 100), true)
  equal(served.expectsOthers(new Set(['b']), 120_000), false)
})

test('many keys that came once take no memory for ever', () => {
  const served = new ServedKeys()
  for (let number = 0; number < 100_000; number++) served.add(`key_${number}`, 10, number * 100)
  ok(served.size <= 1_001, String(served.size))
})

test('a step is not parted among long prompts, which take turns, and a short one is computed at once', () => {
  const step = machine(1)
  const long = ['x', 'x', 'x', 'y'].map((key) => prompt(key, 100_000))
  compute(step, long, 40)
  const computed = long.map(() => 0)
  for (let count = 0; count < 120; count++) {
    const { lengths } = step(long)
    deepEqual(lengths.filter((length) => length > 0).length, 1)
    for (const [at, length] of lengths.entries()) computed[at] = (computed[at] ?? 0) + length
  }
  const [first = 0, second = 0, third = 0, other = 0] = computed
  ok(Math.max(first, second, third) <= Math.min(first, second, third) * 1.2, computed.join(' '))
  ok(Math.abs(first + second + third - other) <= other * 0.2, computed.join(' '))
  const lengths = step([...long, prompt('x', 20)]).lengths
  deepEqual(lengths[4], 20)
})

test('steps of prompts at different positions take about as long, where each token is compared with all before it', () => {
  const planner = new StepPlanner(512)
  const positions = new Map([
    ['short', 0],
    ['long', 4_000],
    ['longer', 20_000],
  ])
  let nowMs = 0
  const taken: number[] = []
  for (let count = 0; count < 600; count++) {
    const works = [...positions].map(([key, position]) => prompt(key, 100_000, position))
    const lengths = planner.plan(works, nowMs)
    let ms = 1
    for (const [at, length] of lengths.entries()) {
      const { key = '', position = 0 } = works[at] ?? {}
      ms += length * (0.01 + 0.000_2 * (position + length / 2))
      // The short one ends, and the next one comes in its place.
      positions.set(key, key === 'short' ? (position + length) % 500 : position + length)
    }
    nowMs += ms
    planner.measure(ms, 0, nowMs)
    if (count >= 300) taken.push(ms)
  }
  const longest = Math.max(...taken)
  const mean = taken.reduce((sum, ms) => sum + ms, 0) / taken.length
  ok(longest <= 250 && mean >= 60, `${longest} ms the longest, ${mean} ms on average`)
})

/** A machine that compares tokens in tiles of 64, as a half-fast one does: 4 ms a token and as much again behind 500 others. */
function tiledMachine() {
  const planner = new StepPlanner(512, { tileTokens: 64 })
  let nowMs = 0
  return (works: readonly Work[]) => {
    const lengths = planner.plan(works, nowMs)
    const msOf = (length: number, position: number) =>
      length * (3 + (position + length / 2) * (length >= 64 ? 0.002 : 0.006))
    const ms = 5 + lengths.reduce((sum, length, at) => sum + msOf(length, works[at]?.position ?? 0), 0)
    nowMs += ms
    planner.measure(ms, 0, nowMs)
    return { lengths, ms }
  }
}

test('a prompt beside which nobody waits is computed in whole tiles', () => {
  const step = tiledMachine()
  for (let round = 0; round < 3; round++)
    for (let position = 0; position < 1_000;) {
      const { lengths, ms } = step([prompt('a', 1_000 - position, position)])
      const [length = 0] = lengths
      ok(ms <= 700, `${ms} ms for ${length} tokens behind ${position}`)
      const isWhole = length % 64 === 0 || (position + length === 1_000 && length > 32)
      ok(isWhole || (round === 0 && position < 100), `${length} tokens behind ${position}`)
      position += length
    }
})

test('beside an answer of the same key a prompt is computed in steps of the usual length', () => {
  const step = tiledMachine()
  for (let position = 0; position < 1_000;) {
    const { lengths, ms } = step([prompt('a', 1_000 - position, position), answer('a')])
    ok(ms <= 350, `${ms} ms for ${lengths[0]} tokens behind ${position}`)
    position += lengths[0] ?? 0
  }
})
