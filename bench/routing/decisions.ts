// Measures what a choice costs and what the index holds: 64 replicas with 10,000 blocks each, prompts of 100,000 tokens.
//
//     node bin/odyssey.cjs --run bench/routing/decisions.ts

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { hashBlocks, blockTokens } from '../../src/scheduling/pool/block-index.ts'
import { Chooser, type Candidate } from '../../src/scheduling/pool/choose.ts'
import { ReplicaLoad } from '../../src/scheduling/pool/replica-load.ts'
import { SimulatedClock } from './replica-model.ts'

const replicaCount = 64
const blocksEach = 10_000
const promptTokens = 100_000
/** So many of those that wait are looked at. */
const windowMax = 64
const decisions = 2_000

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const memory = () => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** A prompt whose first part is one of a hundred and whose rest is its own. */
function chainOf(number: number) {
  const tokens = new Uint32Array(promptTokens)
  const sharedTokens = promptTokens * 0.8
  for (let at = 0; at < promptTokens; at++) tokens[at] = at < sharedTokens ? (number % 100) * 7 + at : number * 131 + at
  return hashBlocks(tokens, 'one')
}

const clock = new SimulatedClock()
const before = memory()
const loads = Array.from({ length: replicaCount }, (_, number) => {
  const load = new ReplicaLoad({
    id: `http://replica-${number}`,
    clock,
    runningMax: 1_000_000,
    heldTokensMax: blocksEach * blockTokens,
  })
  load.share = 1
  return load
})
for (const [number, load] of loads.entries())
  for (let prompt = 0; load.index.size < blocksEach; prompt++) load.index.add(chainOf(number * 5 + prompt))
console.log(`index of ${replicaCount} × ${blocksEach} blocks: ${((memory() - before) / 2 ** 20).toFixed(1)} MiB`)

const chains = Array.from({ length: 200 }, (_, number) => chainOf(number))

function candidate(number: number): Candidate {
  const chain = chains[number % chains.length] ?? chainOf(number)
  return {
    tokens: promptTokens,
    chain,
    organizationId: 'one',
    arrivedMs: 0,
    creditMs: 0,
    excluded: new Set(),
    held: null,
  }
}

/** Times as they are, and the processor time of one on average: other programs take turns with this one. */
function measure(name: string, work: (number: number) => void): void {
  for (let number = 0; number < decisions / 4; number++) work(number)
  const times: number[] = []
  const before = process.cpuUsage()
  for (let number = 0; number < decisions; number++) {
    const startedMs = performance.now()
    work(number)
    times.push((performance.now() - startedMs) * 1_000)
  }
  const { user, system } = process.cpuUsage(before)
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(0)
  const processor = ((user + system) / decisions).toFixed(0)
  console.log(`${name}: P50 ${at(0.5)} µs, P99 ${at(0.99)} µs, ${processor} µs of a processor`)
}

const short = Array.from({ length: 64 }, (_, number) => hashBlocks(new Uint32Array(blockTokens).fill(number), 'two'))

/** One request is new to each choice, and one replica has been given something since the last. */
function measureChoice(waiting: number): void {
  const chooser = new Chooser()
  const requests = Array.from({ length: waiting }, (_, number) => candidate(number * 3))
  measure(`a choice among ${waiting} requests that wait`, (number) => {
    requests[number % waiting] = candidate(number * 37)
    loads[number % replicaCount]?.index.add(short[number % short.length] ?? new Float64Array())
    chooser.choose(requests, loads, 0)
  })
}

measureChoice(1)
measureChoice(windowMax)
measure('noting where a prompt went', (number) => {
  loads[number % replicaCount]?.index.add(chains[(number * 11) % chains.length] ?? new Float64Array())
})
