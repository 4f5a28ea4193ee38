// What a pool adds to a request: Odyssey as it is served, beside its one replica asked directly. README.md says how.

import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { modelIds } from '../../src/core/model.ts'
import { placeholderPath } from '../../test/harness/engines/placeholder-path.ts'
import { startService } from '../../test/harness/start-service.ts'
import { busyPercent } from '../engine/busy.ts'
import { chooseCores, pin } from '../gateway/cores.ts'
import { measure } from '../gateway/measure.ts'
import { parseOptions } from '../gateway/options.ts'
import { startDirect } from '../gateway/targets/direct.ts'
import { completionsPath, model, type Target } from '../gateway/targets/target.ts'
import { useOfTreeSinceLast } from '../process-use.ts'

/** About 1,000 tokens of the placeholder's vocabulary. */
const promptBytes = 1_450

const defaults = ['--rates', '200', '--prompts', String(promptBytes)]
const options = { ...parseOptions([...defaults, ...process.argv.slice(2)]), streamsOnly: true }
const folder = mkdtempSync(join(tmpdir(), 'odyssey-pool-bench-'))
const cores = chooseCores(options.gatewayCore, options.otherCores)
const targets: Target[] = []
try {
  console.log(`${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${await busyPercent()} % busy before`)
  console.log(`the gateway on core ${cores.gateway ?? 'any'}, the rest on ${cores.others ?? 'any'}`)
  pin(process.pid, cores.others)
  const replica = new URL('./paced-replica.ts', import.meta.url)
  const direct = await startDirect(replica, [], { folder, cores: cores.others, pace: options.pace })
  targets.push(direct, await startPooled(direct.url.origin))
  await measure(targets, options)
} finally {
  for (const target of targets.toReversed()) await target.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** The service as its command starts it: keys, ledger and limits are all there, and the text process is on its core. */
async function startPooled(replica: string): Promise<Target> {
  const pools = { bench: { tokenizer: placeholderPath, replicas: [{ url: replica, kind: 'llama-server' }] } }
  const models = Object.fromEntries(modelIds.map((id) => [id, { pool: 'bench' }]))
  // What is started now stays on the core that this process is on, with all that it starts.
  pin(process.pid, cores.gateway)
  const service = await startService({ config: { pools, models } })
  pin(process.pid, cores.others)
  return {
    name: 'through the pool',
    url: new URL(completionsPath, service.address),
    headers: { authorization: `Bearer ${service.key}` },
    model,
    use: () => Promise.resolve(useOfTreeSinceLast(service.pid)),
    async report(sent) {
      const rows = service.ledger()
      const counted = new Set(rows.map(({ input_uncached, output }) => `${input_uncached} and ${output}`))
      return `${sent} requests were sent; the ledger has ${rows.length} rows, of ${[...counted].slice(0, 6).join(', ')} tokens.`
    },
    async stop() {
      await service.stop()
    },
  }
}
