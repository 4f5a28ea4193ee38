// A process whose system has neither Landlock nor filters of system calls, as in old kernels and some
// containers. The filter that takes them away is put into force with the product's own means.

import { runAlone } from '../../src/core/engine.ts'
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collect } from '../../src/core/collect.ts'
import { openLinuxCalls } from '../../src/lib/system/linux-calls.ts'
import type { ConfinementReport } from '../../src/engines/llama/confinement/plan.ts'
import { restrictCalls } from '../../src/engines/llama/confinement/seccomp.ts'
import { launchChild } from '../../src/engines/llama/launch-child.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openLlama } from './engines/open-llama.ts'
import { placeholderPath } from './engines/placeholder-path.ts'
import { engineRequest } from './requests.ts'

type Mode = 'auto' | 'require'
type Outcome = {
  readonly outcome: string
  readonly report: ConfinementReport | null
  readonly said: string
  readonly secret: string
}

/** Asks an engine there for an answer, and a child that was taken over for the service's secret. */
export function runInLesserSystem(mode: Mode): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    // The system's answer to whoever asks for a filter holds for this process alone.
    const child = fork(import.meta.filename, [mode], { execArgv: ['--disable-warning=ExperimentalWarning'] })
    child.once('message', (outcome) => {
      child.kill('SIGKILL')
      resolve(outcome as Outcome)
    })
    child.once('exit', (code) => reject(new Error(`It ended with ${code}.`)))
  })
}

if (process.argv[1] === import.meta.filename) {
  restrictCalls(openLinuxCalls(), [{ answer: 'no such call', calls: ['landlock_create_ruleset', 'seccomp'] }], 'all')
  const mode = process.argv[2] as Mode
  process.send?.({ ...(await ask(mode)), secret: mode === 'auto' ? await readSecret() : '' })
}

async function ask(confinement: Mode): Promise<Omit<Outcome, 'secret'>> {
  let report: ConfinementReport | null = null
  const said: string[] = []
  const engine = openLlama(
    {},
    {
      confinement,
      onConfined: (told) => (report = told),
      onExit: (reason) => said.push(reason),
      onOutput: (line) => said.push(line),
    },
  )
  const outcome = await collect(runAlone(engine, engineRequest(), new AbortController().signal)).then(
    ({ reason }) => reason.kind,
    (error: unknown) => String((error as { code?: string }).code),
  )
  return { outcome, report, said: said.join('\n') }
}

async function readSecret(): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-lesser-'))
  const path = join(home, 'secret.key')
  writeFileSync(path, 'x')
  const { process: child, ended } = launchChild(new URL('./engines/confined-child.ts', import.meta.url), {
    weightsPaths: [placeholderPath],
    cacheFolder: null,
    usesDevices: false,
    environment: {},
    confinement: 'auto',
    memoryBytesMax: 1024 ** 3,
    clock: systemClock,
    onConfined: () => {},
  })
  const next = () => new Promise<string>((resolve) => child.once('message', (said) => resolve(said as string)))
  await next()
  child.send({ kind: 'read', path })
  const outcome = await next()
  child.kill('SIGKILL')
  await ended
  rmSync(home, { recursive: true })
  return outcome
}
