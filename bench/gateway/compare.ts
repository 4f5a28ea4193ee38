// What Odyssey adds to a request, beside a mock asked directly, nginx and other gateways: README.md says how.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { busyPercent } from '../engine/busy.ts'
import { chooseCores, pin, type Cores } from './cores.ts'
import { measureDiskWait } from './disk-wait.ts'
import { sendOpenLoop } from './load.ts'
import { measureMessageWait } from './message-wait.ts'
import { parseOptions, type Options } from './options.ts'
import { leadInMs, percentile, read, type Reading } from './reading.ts'
import { eventShapes, listShapes, type Shape } from './shapes.ts'
import { latencyTable, useTable } from './table.ts'
import { startDirect } from './targets/direct.ts'
import { startNginx } from './targets/nginx.ts'
import { startOdyssey } from './targets/odyssey.ts'
import { startPeer } from './targets/peer.ts'
import type { TargetSetup } from './targets/start-program.ts'
import type { Target } from './targets/target.ts'
import type { Wait } from './wait.ts'

/** The time a run may take where no option says how long it lasts. */
const wholeRunMs = 240_000
/** For starting everything and for the last answers of each reading. */
const startMs = 20_000
const lastAnswersMs = 300
const warmUpPerSecond = 200

const options = parseOptions(process.argv.slice(2))
const folder = mkdtempSync(join(tmpdir(), 'odyssey-gateway-bench-'))
const targets: Target[] = []
try {
  const cores = chooseCores(options.gatewayCore, options.otherCores)
  console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${await busyPercent()} % busy before`)
  console.log(
    cores.gateway === null ? 'nothing pinned' : `gateways on core ${cores.gateway}, the rest on ${cores.others}`,
  )
  pin(process.pid, cores.others)
  tellWait('a write that waits for the disk', await measureDiskWait(folder))
  tellWait('a message to another process and back', await measureMessageWait(cores))
  await startTargets(cores)
  await run()
} finally {
  for (const target of targets.toReversed()) await target.stop()
  rmSync(folder, { recursive: true, force: true })
}

function tellWait(what: string, { p50Ms, p99Ms }: Wait): void {
  console.log(`${what} takes ${p50Ms.toFixed(2)} ms (P50), ${p99Ms.toFixed(2)} ms (P99)`)
}

async function startTargets({ gateway, others }: Cores): Promise<void> {
  const { pace, nginx, variants, peers, mockPort } = options
  const place = (name: string, cores: string | null): TargetSetup => {
    const own = join(folder, name)
    mkdirSync(own)
    return { folder: own, cores, pace }
  }
  const direct = await startDirect(place('mock', others), mockPort)
  targets.push(direct)
  targets.push(await startOdyssey(place('odyssey', gateway), others))
  for (const [index, variant] of variants.entries()) {
    targets.push(await startOdyssey(place(`variant-${index}`, gateway), others, variant))
  }
  if (nginx !== null) targets.push(await startNginx(nginx, place('nginx', gateway), direct.url))
  for (const [index, peer] of peers.entries()) {
    targets.push(await startPeer(peer, place(`peer-${index}`, gateway), direct.url))
  }
}

async function run(): Promise<void> {
  const shapes = listShapes(options)
  const seconds = options.seconds ?? secondsThatFit(options, shapes.length + 1)
  const { firstTokenMs, tokensPerSecond } = options.pace
  console.log(`the mock: first token after ${firstTokenMs} ms, then ${tokensPerSecond} tokens a second`)
  console.log(`${options.warmUpSeconds} s to warm each up, then ${seconds} s for each reading\n`)
  const sent = new Map<Target, number>()
  for (const target of targets) sent.set(target, await warmUp(target))
  const readings: Reading[] = []
  const [, longer] = eventShapes(options)
  for (const [round, shape] of [...shapes, longer].entries()) {
    for (let turn = 0; turn < targets.length; turn++) {
      // Each round begins with another one, so that none always comes after the same.
      const target = targets[(round + turn) % targets.length]!
      const reading = await read(target, shape, seconds)
      sent.set(target, (sent.get(target) ?? 0) + reading.sent)
      tell(reading)
      readings.push(reading)
    }
  }
  await report(readings, shapes)
  for (const [target, count] of sent) {
    const line = await target.report(count)
    if (line !== null) console.log(line)
  }
}

function secondsThatFit({ warmUpSeconds }: Options, shapes: number): number {
  const left = wholeRunMs - startMs - targets.length * warmUpSeconds * 1_000
  return Math.max(1, Math.floor((left / (shapes * targets.length) - leadInMs - lastAnswersMs) / 1_000))
}

/** All kinds of requests, until what runs them is compiled. */
async function warmUp(target: Target): Promise<number> {
  const shapes = listShapes({ ...options, rates: [warmUpPerSecond] })
  let sent = 0
  for (const shape of shapes) {
    sent += (await sendOpenLoop(target, shape, (options.warmUpSeconds * 1_000) / shapes.length)).length
  }
  return sent
}

function tell({ target, shape, firstMs, endMs, requests, failures }: Reading): void {
  const [first, end] = [firstMs, endMs].map((times) => percentile(times, 50).toFixed(2))
  const kind = `${shape.perSecond}/s, ${shape.promptBytes} B, ${shape.isStream ? 'streamed' : 'whole'}, ${shape.tokens} tokens`
  console.error(`${kind}, ${target}: first ${first}, end ${end} ms; ${failures} of ${requests} failed`)
}

async function report(readings: readonly Reading[], shapes: readonly Shape[]): Promise<void> {
  console.log(`${latencyTable(readings.filter(({ shape }) => shapes.includes(shape)))}\n`)
  console.log(`Times in milliseconds.\n\n${useTable(readings, options)}\n`)
}
