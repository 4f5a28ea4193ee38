import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ThreadGovernor } from './thread-governor.ts'

/** Milliseconds of a step that one thread computes alone, and what of it cannot be shared out. */
type Work = { readonly ms: number; readonly serialShare: number }

const small: Work = { ms: 8, serialShare: 0.75 }
const large: Work = { ms: 400, serialShare: 0.02 }

/** How long a thread stays away that loses its processor. */
const sliceMs = 4

/**
 * A machine whose processors are shared fairly. Threads of a step wait for each other by spinning, so
 * beside others that never rest a step progresses only while all of its threads run.
 */
class Machine {
  nowMs = 0
  /** Processors that others would use if they could have them. */
  wanted = 0
  #freeMs = 0
  #noticedMs = 0
  readonly processors: number
  readonly work: Work

  constructor(processors: number, work: Work) {
    this.processors = processors
    this.work = work
  }

  step(threads: number) {
    const alone = this.work.ms * (this.work.serialShare + (1 - this.work.serialShare) / threads)
    const crowd = Math.max(0, threads + this.wanted - this.processors)
    const ms = crowd === 0 ? alone : alone * (1 + crowd) + (threads > 1 ? 40 * sliceMs : 0)
    const had = crowd === 0 ? threads : (threads * this.processors) / (threads + this.wanted)
    const others = Math.min(this.wanted, this.processors - had)
    this.nowMs += ms
    this.#freeMs += (this.processors - others) * ms
    return { tokens: 1, ms, processorMs: had * ms }
  }

  /** What the kernel tells, once 90 ms are over. */
  look() {
    const overMs = this.nowMs - this.#noticedMs
    if (overMs < 90) return null
    const free = this.#freeMs / overMs
    this.#freeMs = 0
    this.#noticedMs = this.nowMs
    return { overMs, free }
  }
}

/** Steps until a time; the longest of them, and what they took together with how many there were. */
function runUntil(governor: ThreadGovernor, machine: Machine, untilMs: number) {
  let [steps, longestMs] = [0, 0]
  const fromMs = machine.nowMs
  while (machine.nowMs < untilMs) {
    const use = machine.look()
    if (use !== null) governor.notice(use, machine.nowMs)
    const step = machine.step(governor.threads)
    governor.measure(step, machine.nowMs)
    steps += 1
    longestMs = Math.max(longestMs, step.ms)
  }
  return { stepMs: (machine.nowMs - fromMs) / steps, longestMs }
}

/** A machine of two processors and a governor that has found both of them free. */
function findTwoFree(work: Work, untilMs: number) {
  const machine = new Machine(2, work)
  const governor = new ThreadGovernor({ first: 1, most: 2 })
  runUntil(governor, machine, untilMs)
  equal(governor.threads, 2)
  return { machine, governor }
}

test('threads rise where nobody else uses the machine', () => {
  for (const processors of [2, 4, 16]) {
    const machine = new Machine(processors, large)
    const governor = new ThreadGovernor({ first: processors - 1, most: processors })
    equal(governor.threads, processors - 1)
    runUntil(governor, machine, 20_000)
    equal(governor.threads, processors)
  }
})

test('a step that is held up costs its threads at once', () => {
  const { machine, governor } = findTwoFree(small, 5_000)
  machine.wanted = 2
  const step = machine.step(governor.threads)
  governor.measure(step, machine.nowMs)
  equal(governor.threads, 1)
})

test('what is lost now and then costs no thread that gains more, and what is lost over and over does', () => {
  const governor = new ThreadGovernor({ first: 2, most: 2 })
  const run = (heldUpEvery: number) => {
    for (let step = 1; step <= 200; step++) {
      const ms = step % heldUpEvery === 0 ? 35 : 5
      governor.measure({ tokens: 1, ms, processorMs: 10 }, step * 5)
    }
  }
  run(50)
  equal(governor.threads, 2)
  run(10)
  equal(governor.threads, 1)
})

test('threads give way to busy neighbours on machines of every size, and stay away while these are there', () => {
  for (const processors of [2, 4, 16, 64]) {
    const machine = new Machine(processors, large)
    const governor = new ThreadGovernor({ first: processors, most: processors })
    machine.wanted = Math.max(1, processors / 4)
    runUntil(governor, machine, 5_000)
    const { stepMs } = runUntil(governor, machine, 65_000)
    const best = processors - machine.wanted
    ok(governor.threads <= best && governor.threads >= best / 2, `${governor.threads} threads of ${processors}`)
    const bestMs = large.ms * (large.serialShare + (1 - large.serialShare) / best)
    ok(stepMs < 1.6 * bestMs, `${stepMs} ms a step instead of ${bestMs} on ${processors} processors`)
  }
})

test('what others do for a moment is forgotten soon, what they do over and over is not', () => {
  const machine = new Machine(2, small)
  const governor = new ThreadGovernor({ first: 1, most: 2 })
  let heldUp = 0
  for (let second = 1; second <= 120; second++) {
    machine.wanted = second % 3 === 0 ? 2 : 0
    if (runUntil(governor, machine, second * 1_000).longestMs > 20) heldUp += 1
  }
  ok(heldUp <= 12, `${heldUp} of 40 disturbances held a step up`)
  machine.wanted = 0
  runUntil(governor, machine, 400_000)
  equal(governor.threads, 2)
})

test('what the service uses of a processor itself takes no thread away, and what a neighbour uses does', () => {
  const governor = new ThreadGovernor({ first: 1, most: 2 })
  const look = (free: number, times: number, fromMs: number) => {
    for (let time = 1; time <= times; time++) governor.notice({ overMs: 90, free }, fromMs + time * 90)
  }
  look(1.7, 10, 0)
  equal(governor.threads, 2)
  look(1.5, 10, 1_000)
  equal(governor.threads, 2)
  look(1.3, 1, 2_000)
  equal(governor.threads, 1)
})

test('a thread is tried on the work that there is, which may take longer with each step', () => {
  const governor = new ThreadGovernor({ first: 1, most: 2 })
  const given: number[] = []
  let [nowMs, ms] = [0, 100]
  for (let step = 0; step < 60; step++) {
    governor.notice({ overMs: 100, free: 2 }, nowMs)
    // A second thread takes an eighth of the time away, and the prompt grows by more than that until it was tried.
    given.push(governor.threads)
    const tookMs = governor.threads === 2 ? ms * 0.875 : ms
    nowMs += tookMs
    governor.measure({ tokens: 64, ms: tookMs, processorMs: tookMs * governor.threads }, nowMs)
    ms *= 1.05
  }
  deepEqual(given.slice(-20), Array(20).fill(2))
})

test('a thread that brings nothing is taken back', () => {
  const machine = new Machine(4, { ms: 8, serialShare: 1 })
  const governor = new ThreadGovernor({ first: 1, most: 4 })
  runUntil(governor, machine, 30_000)
  equal(governor.threads, 1)
})

test('a thread that shortens long steps by a third is kept after four of them, and after sixteen where they are short', () => {
  for (const [stepMs, stepsMost] of [
    [400, 4],
    [8, 16],
  ] as const) {
    const governor = new ThreadGovernor({ first: 1, most: 2 })
    let nowMs = 0
    const step = () => {
      const threads = governor.threads
      const ms = stepMs / (threads === 2 ? 1.5 : 1)
      nowMs += ms
      governor.measure({ tokens: 64, ms, processorMs: ms * threads }, nowMs)
      return threads
    }
    governor.notice({ free: 2, overMs: 1_000 }, nowMs)
    const tried = Array.from({ length: stepsMost }, step)
    deepEqual(tried.filter((threads) => threads === 1).length, stepsMost / 2)
    const later = Array.from({ length: 20 }, step)
    deepEqual(new Set(later), new Set([2]), `steps of ${stepMs} ms`)
  }
})

test('a thread that was worth its while is taken up again without a trial when a neighbour has gone', () => {
  const { machine, governor } = findTwoFree(large, 20_000)
  machine.wanted = 2
  runUntil(governor, machine, machine.nowMs + 2_000)
  equal(governor.threads, 1)
  machine.wanted = 0
  const given: number[] = []
  for (let step = 0; step < 20; step++) {
    const use = machine.look()
    if (use !== null) governor.notice(use, machine.nowMs)
    given.push(governor.threads)
    governor.measure(machine.step(governor.threads), machine.nowMs)
  }
  const taken = given.indexOf(2)
  ok(taken !== -1 && taken <= 3, `after ${taken} steps`)
  deepEqual(new Set(given.slice(taken)), new Set([2]))
})

test('a thread that is taken up again is not the last one to be tried', () => {
  const machine = new Machine(4, large)
  const governor = new ThreadGovernor({ first: 3, most: 4 })
  machine.wanted = 1
  runUntil(governor, machine, 40_000)
  equal(governor.threads, 3)
  governor.notice({ overMs: 90, free: 1.2 }, machine.nowMs)
  equal(governor.threads, 1)
  machine.wanted = 0
  runUntil(governor, machine, 80_000)
  equal(governor.threads, 4)
})
