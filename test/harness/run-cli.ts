import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Service } from './start-service.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Runs an operator's command on a service's data folder. Returns what it printed. */
export async function runCli({ home }: Service, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', ODYSSEY_HOME: home }
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { env })
  return stdout
}

export async function createKey(
  service: Service,
  name: string,
): Promise<{ readonly id: string; readonly key: string }> {
  return JSON.parse(await runCli(service, 'keys', 'create', '--name', name, '--json')) as { id: string; key: string }
}
