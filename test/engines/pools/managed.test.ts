// Replicas that the gateway starts itself: programs with a stand-in in them, and a llama-server where there is one.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { collect } from '../../../src/core/collect.ts'
import { runAlone } from '../../../src/core/engine.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import type { PoolEngine } from '../../../src/models/fleet/pools/pool-engine.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { compileCache } from '../../harness/as-launched.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { llamaServer } from '../../harness/programs/llama-server.ts'
import { findProgram } from '../../harness/programs/program.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'
import { runCli } from '../../harness/run-cli.ts'
import { startService, until } from '../../harness/start-service.ts'

const never = new AbortController().signal
const program = join(import.meta.dirname, '../../harness/engines/stand-in-program.ts')
const commandOf = (...more: string[]) => [process.execPath, program, 'llama-server', '{port}', ...more]
const environment = { PATH: process.env['PATH'] ?? '', ...compileCache }
const waitMsMax = 120_000

const opened: PoolEngine[] = []
after(() => Promise.all(opened.map((engine) => engine.close())))

async function openManaged(
  commands: readonly (readonly string[])[],
  { log = createLog('silent'), more = {} }: { log?: ReturnType<typeof createLog>; more?: Record<string, string> } = {},
): Promise<PoolEngine> {
  const settings = { kind: 'llama-server', key: null, runningMax: null } as const
  const engine = await openPool([], {
    log,
    clock: systemClock,
    commands: commands.map((command) => ({ ...settings, command })),
    processes: { folder: process.cwd(), environment: { ...environment, ...more } },
  })
  opened.push(engine)
  return engine
}

const isUp = (engine: PoolEngine, count: number) =>
  engine.replicas.length === count && engine.replicas.every(({ health }) => health.state === 'up')
const run = (engine: PoolEngine, seed: number, outputTokensMax = 8) =>
  collect(runAlone(engine, engineRequest({ outputTokensMax, sampling: withSeed(seed, 0) }), never))
/** The processes that listen at the ports of a pool's replicas, by the arguments that they were given. */
async function pidsOf(engine: PoolEngine): Promise<number[]> {
  const found = await Promise.all(engine.replicas.map(({ id }) => pidsWith(` ${new URL(id).port}`)))
  return found.flat()
}

async function pidsWith(argument: string): Promise<number[]> {
  const listing = spawn('ps', ['-eo', 'pid=,args='])
  let text = ''
  listing.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await once(listing, 'close')
  const lines = text.split('\n').filter((line) => line.includes(program) && !/guard\.[jt]s/.test(line))
  return lines.filter((line) => line.includes(argument)).map((line) => Number(line.trim().split(' ')[0]))
}

describe('a replica that the gateway starts', () => {
  it('answers, is started again when it dies, and ends with its pool', async () => {
    const engine = await openManaged([commandOf()])
    await until(() => isUp(engine, 1), 'It did not come up.', waitMsMax)
    const expected = await run(engine, 1)
    const [pid = 0] = await pidsOf(engine)
    process.kill(pid, 'SIGKILL')
    await until(() => !isUp(engine, 1), 'Nobody saw that it died.', waitMsMax)
    await until(() => isUp(engine, 1), 'It was not started again.', waitMsMax)
    const [replica] = engine.replicas
    ok(replica !== undefined)
    equal(engine.membership.restartsOf(replica), 1)
    deepEqual((await run(engine, 1)).blocks, expected.blocks)
    const [next = 0] = await pidsOf(engine)
    ok(next !== pid)
    await engine.close()
    equal(isAlive(next), false)
  })

  it('ends with all that its program has started, whether the program or the pool ends', async () => {
    const started = commandOf('started').map((argument) => `'${argument}'`)
    const engine = await openManaged([['sh', '-c', `${started.join(' ')} & wait`]])
    await until(() => isUp(engine, 1), 'It did not come up.', waitMsMax)
    const first = await pidsWith('started')
    equal(first.length, 2)
    // The script was there before what it has started.
    process.kill(Math.min(...first), 'SIGKILL')
    await until(() => !first.some(isAlive), 'What the program had started runs on.', waitMsMax)
    await until(() => isUp(engine, 1), 'It was not started again.', waitMsMax)
    const next = await pidsWith('started')
    equal(next.length, 2)
    await engine.close()
    deepEqual(next.map(isAlive), [false, false])
  })

  it('is replaced with no request lost, and by nothing that cannot be a replica', async () => {
    const engine = await openManaged([commandOf(), commandOf()])
    await until(() => isUp(engine, 2), 'They did not come up.', waitMsMax)
    const before = engine.replicas.map(({ id }) => id)
    let isOver = false
    let answers = 0
    const load = Array.from({ length: 4 }, async (_, lane) => {
      for (let number = 0; !isOver; number++) {
        await run(engine, lane * 1_000 + number, 40)
        answers += 1
      }
    })
    await engine.membership.roll([commandOf('rolled'), commandOf('rolled')])
    equal(engine.replicas.length, 2)
    const rolled = engine.replicas.map(({ id }) => id)
    ok(rolled.every((id) => !before.includes(id)))
    await rejects(engine.membership.roll([commandOf('ends'), commandOf('rolled')]), /with code 3/)
    deepEqual(
      engine.replicas.map(({ id }) => id),
      rolled,
    )
    isOver = true
    await Promise.all(load)
    ok(answers > 0)
    const pids = await pidsOf(engine)
    equal(pids.length, 2)
    await engine.close()
    deepEqual(pids.map(isAlive), [false, false])
  })

  it('is waited for longer each time when it ends by itself, and the operator is told how it ended', async () => {
    const engine = await openManaged([commandOf('ends')])
    const restarts = () => engine.replicas.map((replica) => engine.membership.restartsOf(replica) ?? 0)[0] ?? 0
    await until(() => restarts() >= 2, 'It was not started again.', waitMsMax)
    await until(() => engine.reason?.includes('with code 3') === true, 'Nobody is told.', waitMsMax)
    await engine.close()
  })

  it('fills no log, however much it says', async () => {
    const lines: string[] = []
    const base = createLog('silent')
    const keep = (facts: object) => lines.push(JSON.stringify(facts))
    const log = { ...base, info: keep, warn: keep, child: () => log } as unknown as ReturnType<typeof createLog>
    const engine = await openManaged([commandOf('chatters')], { log })
    await until(() => isUp(engine, 1), 'It did not come up.', waitMsMax)
    const kept = lines.filter((line) => line.includes('"line"'))
    ok(kept.length >= 50 && kept.length <= 400, String(kept.length))
    ok(kept.every((line) => line.length < 700))
    await engine.close()
  })

  it('ends with the service however that ends, and is replaced by what the config file has by then', async (t) => {
    const configOf = (...more: string[]) => ({
      availability: { canary: 'off' },
      models: { 'clarke-1.0': { pool: 'big' } },
      pools: { big: { tokenizer: placeholderPath, replicas: [{ command: commandOf(...more), kind: 'llama-server' }] } },
    })
    const service = await startService({ config: configOf() })
    t.after(() => service.stop('SIGKILL'))
    const read = async () => {
      const stdout = await runCli(service, 'pools', '--json')
      const { pools } = JSON.parse(stdout) as { pools: { replicas: { address: string; state: string }[] }[] }
      return pools[0]?.replicas ?? []
    }
    await until(async () => (await read()).every(({ state }) => state === 'up'), 'It did not come up.', waitMsMax)
    const [first] = await read()
    writeFileSync(join(service.home, 'odyssey.json'), JSON.stringify(configOf('rolled')))
    await runCli(service, 'pools', 'roll', 'big')
    const isReplaced = async () => {
      const replicas = await read()
      return replicas.length === 1 && replicas[0]?.address !== first?.address && replicas[0]?.state === 'up'
    }
    await until(isReplaced, 'It was not replaced.', waitMsMax)
    const pids = await pidsWith('rolled')
    equal(pids.length, 1)
    await service.stop('SIGKILL')
    await until(() => !pids.some(isAlive), 'It runs on.', waitMsMax)
  })

  const { path, skip } = findProgram(llamaServer)
  it('can be a real llama-server', { skip }, async () => {
    const command = [path, '-m', placeholderPath, '-c', '4096', '-np', '2', '--no-webui', '--port', '{port}']
    const engine = await openManaged([command], { more: { LD_LIBRARY_PATH: dirname(path) } })
    await until(() => isUp(engine, 1), 'It did not come up.', waitMsMax)
    const { usage } = await run(engine, 1)
    ok(usage.output > 0)
    await engine.membership.roll([command])
    deepEqual((await run(engine, 1)).usage.output, usage.output)
    await engine.close()
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
