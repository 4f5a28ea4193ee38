import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { letRun } from '../../harness/manual-clock.ts'
import type { Agent, Run } from './agents.ts'
import { prompt, source, startCopyingService, target, type AgentFault } from './copying-model.ts'

export type AgentOutcome = {
  /** The exit code; null when it had to be ended. */
  readonly code: number | null
  readonly output: string
  readonly seconds: number
  /** Whether the word was read, written and told. */
  readonly hasWritten: boolean
  readonly hasTold: boolean
  readonly turns: number
}

/** Longer than anybody would watch an agent do nothing. */
const patienceMs = 180_000

/** One run of an agent in a folder and with an environment of its own. */
export async function runAgent(
  agent: Agent,
  modules: string,
  { faults = [], key }: { readonly faults?: readonly AgentFault[]; readonly key?: string },
): Promise<AgentOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-agent-'))
  const word = `MAGIC-${Math.random().toString(36).slice(2, 10)}`
  writeFileSync(join(folder, source), `${word}\n`)
  const service = await startCopyingService(folder, faults)
  const stopClock = letRun(service.clock)
  try {
    const run = agent.prepare({ address: service.address, key: key ?? service.key, modules, folder, prompt })
    const startedMs = performance.now()
    const { code, output } = await execute(run, folder)
    const written = join(folder, target)
    return {
      code,
      output,
      seconds: (performance.now() - startedMs) / 1_000,
      hasWritten: existsSync(written) && readFileSync(written, 'utf8').includes(word),
      hasTold: output.includes(`The word is ${word}`),
      turns: service.turns.length,
    }
  } finally {
    stopClock()
    endThoseAtHome(folder)
    service.app.server.closeAllConnections()
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing of the own environment, and a home in the agent's folder. */
export function environmentIn(folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_DATA_HOME: join(folder, '.local/share'),
    XDG_CACHE_HOME: join(folder, '.cache'),
    XDG_STATE_HOME: join(folder, '.local/state'),
    // A way out to the network that leads nowhere, past which only this machine is reached.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
  }
}

/** Runs an agent to its end, or for as long as anybody would watch it do nothing. */
export function execute(
  { file, args, environment }: Run,
  folder: string,
): Promise<Pick<AgentOutcome, 'code' | 'output'>> {
  const env = { ...environmentIn(folder), ...environment }
  return new Promise((resolve, reject) => {
    // A group of its own, so that what an agent leaves running ends with it.
    const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const endGroup = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // All of it has ended by itself.
      }
    }
    const timer = setTimeout(endGroup, patienceMs)
    child.once('error', reject)
    child.once('exit', (code) => {
      clearTimeout(timer)
      endGroup()
      resolve({ code, output })
    })
  })
}

/** Ends what an agent has left behind outside its group, such as Cline's hub: all that have its folder for a home. */
export function endThoseAtHome(folder: string): void {
  if (process.platform !== 'linux') return
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
      if (variables.includes(`HOME=${folder}`)) process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended meanwhile, or is somebody else's.
    }
  }
}
