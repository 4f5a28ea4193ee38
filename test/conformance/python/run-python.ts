import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Listening } from '../clients/client.ts'

const folder = import.meta.dirname
const run = promisify(execFile)

/**
 * A Python with the pinned libraries, those of the documentation too, in an environment of its own in `home`. Throws where it
 * cannot be made.
 */
export function installPython(home: string): string {
  const python = ['python3', 'python'].find((name) => spawnSync(name, ['--version']).status === 0)
  if (python === undefined) throw new Error('There is no Python on this machine.')
  const environment = join(home, 'python')
  const made = spawnSync(python, ['-m', 'venv', environment], { encoding: 'utf8' })
  if (made.status !== 0) throw new Error(`Python cannot make an environment: ${made.stderr || made.stdout}`)
  const own = [join(environment, 'bin/python'), join(environment, 'Scripts/python.exe')].find(existsSync)
  if (own === undefined) throw new Error('The environment has no Python.')
  const lists = [join(folder, 'requirements.txt'), join(folder, '../../docs/requirements.txt')]
  const install = ['-m', 'pip', 'install', '--quiet', ...lists.flatMap((list) => ['--requirement', list])]
  const installed = spawnSync(own, install, { encoding: 'utf8' })
  if (installed.status !== 0) throw new Error(`The libraries could not be installed: ${installed.stderr}`)
  return own
}

/** Runs one of the scripts with the services and nothing else of this process's environment. Returns its lines. */
export async function runScript<Line>(
  python: string,
  args: readonly string[],
  listening: Readonly<Record<string, Listening>>,
): Promise<Line[]> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    // What a test says of cities is not ASCII.
    PYTHONUTF8: '1',
    PYTHONDONTWRITEBYTECODE: '1',
    ODYSSEY_SERVICES: JSON.stringify(listening),
  }
  const { stdout } = await run(python, [...args], { cwd: folder, env, timeout: 600_000, maxBuffer: 16 * 1024 * 1024 })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}
