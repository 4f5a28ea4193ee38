// What Odyssey adds to a request, beside a mock asked directly, nginx and other gateways: README.md says how.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { busyPercent } from '../engine/busy.ts'
import { chooseCores, pin, type Cores } from './cores.ts'
import { measureDiskWait } from './disk-wait.ts'
import { measureMessageWait } from './message-wait.ts'
import { measure } from './measure.ts'
import { parseOptions } from './options.ts'
import { startDirect } from './targets/direct.ts'
import { startNginx } from './targets/nginx.ts'
import { startOdyssey } from './targets/odyssey.ts'
import { startPeer } from './targets/peer.ts'
import type { TargetSetup } from './targets/start-program.ts'
import type { Target } from './targets/target.ts'
import type { Wait } from './wait.ts'

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
  await measure(targets, options)
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
  const mock = new URL('./mock/mock-server.ts', import.meta.url)
  const direct = await startDirect(mock, [String(mockPort)], place('mock', others))
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
