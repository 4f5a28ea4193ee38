// Headers of weights that are damaged at random: whatever is in them, reading one ends soon with a yes or a clear no.

import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GgufError } from '../../src/engines/llama/gguf/gguf-cursor.ts'
import { inspectWeights } from '../../src/engines/llama/gguf/inspect-weights.ts'
import { madeGguf } from '../harness/engines/made-gguf.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { describeCounts, Failures, increment, type CampaignOptions, type CampaignResult } from './campaign.ts'
import { createRandom, type Random } from './random.ts'

/** Reading the largest header there may be takes some tenths of a second; this is ten times as long on a busy machine. */
const readMsMax = 10_000
/** The placeholder's header is shorter. */
const headerBytesKept = 40_000
/** Most of what a header of some kilobytes may make a reader take is its own buffer of a megabyte. */
const grownBytesMax = 512 * 1024 * 1024

type Mutation = (random: Random, content: Buffer) => Buffer

/** Numbers with which readers of lengths and counts have been fooled. */
const numbers = [0n, 1n, 2n, 31n, 2n ** 16n, 2n ** 31n - 1n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n]

const mutations: Readonly<Record<string, Mutation>> = {
  bytes(random, content) {
    const copy = Buffer.from(content)
    for (let left = random.integer(1, 8); left > 0; left--) copy[at(random, copy)] = random.integer(0, 255)
    return copy
  },
  number32(random, content) {
    const copy = Buffer.from(content)
    copy.writeUInt32LE(Number(BigInt.asUintN(32, random.pick(numbers))), at(random, copy, 4))
    return copy
  },
  number64(random, content) {
    const copy = Buffer.from(content)
    copy.writeBigUInt64LE(random.pick(numbers), at(random, copy, 8))
    return copy
  },
  counts(random, content) {
    const copy = Buffer.from(content)
    copy.writeBigUInt64LE(random.pick(numbers), random.pick([8, 16]))
    return copy
  },
  'cut off': (random, content) => content.subarray(0, random.integer(0, content.length)),
  'repeated piece'(random, content) {
    const start = at(random, content)
    const piece = content.subarray(start, start + random.integer(1, 200))
    return Buffer.concat([content.subarray(0, start), piece, content.subarray(start)])
  },
  'missing piece'(random, content) {
    const start = at(random, content)
    return Buffer.concat([content.subarray(0, start), content.subarray(start + random.integer(1, 64))])
  },
  'other type'(random, content) {
    const copy = Buffer.from(content)
    copy.writeUInt32LE(random.integer(0, 14), at(random, copy, 4))
    return copy
  },
}

function at(random: Random, content: Buffer, room = 1): number {
  return random.integer(0, Math.min(content.length, headerBytesMost) - room)
}

/** Damage to what comes after the header changes nothing for its reader. */
const headerBytesMost = 3_000

export async function runWeightsHeaders({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-headers-'))
  const failures = new Failures()
  const outcomes = new Map<string, number>()
  // The placeholder's header is real, the other one so short that damage often hits what matters.
  const placeholder = readFileSync(placeholderPath)
  const [made, real] = [madeGguf({}, 64), placeholder.subarray(0, headerBytesKept)]
  const grownFrom = process.memoryUsage.rss()
  let slowestMs = 0
  try {
    for (let caseNumber = 0; caseNumber < count; caseNumber++) {
      const random = createRandom(seed, caseNumber)
      const original = random.chance(0.2) ? real : made
      let content: Buffer = original
      let names = ''
      for (let left = random.integer(1, 3); left > 0 && content.length >= 32; left--) {
        const name = random.pick(Object.keys(mutations))
        content = mutations[name]?.(random, content) ?? content
        names += ` ${name}`
      }
      const path = join(folder, 'file.gguf')
      writeFileSync(path, content)
      // What follows the header has only to be there.
      if (original === real) truncateSync(path, content.length + placeholder.length - headerBytesKept)
      const startedMs = performance.now()
      increment(
        outcomes,
        inspect(path, (fault) => failures.add(fault, `case ${caseNumber},${names}`)),
      )
      const tookMs = performance.now() - startedMs
      slowestMs = Math.max(slowestMs, tookMs)
      if (tookMs > readMsMax) failures.add('a header kept its reader busy', `case ${caseNumber},${names}`)
      if (caseNumber % 10_000 === 9_999) log(`${caseNumber + 1} headers`)
    }
    const grownBytes = process.memoryUsage.rss() - grownFrom
    if (grownBytes > grownBytesMax) failures.add(`the reader grew by ${grownBytes} bytes`)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return failures.toResult({ headers: count, outcomes: describeCounts(outcomes), 'slowest ms': slowestMs.toFixed(1) })
}

function inspect(path: string, onFault: (fault: string) => void): string {
  try {
    inspectWeights(path)
    return 'taken'
  } catch (error) {
    if (error instanceof GgufError) return 'refused'
    onFault(`refused in no words for the operator: ${String(error)}`)
    return 'broken'
  }
}
