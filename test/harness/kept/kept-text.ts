import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until, type Service } from '../start-service.ts'

const writing = fileURLToPath(new URL('write-heap-snapshot.ts', import.meta.url))

/** What has a service write its memory to a file when it is asked to. */
export function memoryEnvironment(snapshot: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${writing}`, ODYSSEY_TEST_SNAPSHOT: snapshot }
}

/** All that is reachable in the memory of a service that was started with `memoryEnvironment`. */
export async function readMemory({ pid }: Pick<Service, 'pid'>, snapshot: string): Promise<Buffer> {
  process.kill(pid, 'SIGUSR2')
  await until(() => existsSync(snapshot), 'The memory was not written.', 120_000)
  const memory = readFileSync(snapshot)
  rmSync(snapshot)
  return memory
}

/** The files that the processes of a service have open, whatever they are called; on Linux alone. */
export async function readOpenFiles(service: Service): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>()
  for (const pid of [service.pid, await service.enginePid()]) {
    for (const name of readdirSync(`/proc/${pid}/fd`)) {
      const file = `/proc/${pid}/fd/${name}`
      // One that was closed meanwhile holds nothing.
      if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) found.set(file, readFileSync(file))
    }
  }
  return found
}

/** All that a service has written into its folder. */
export function readWrittenFiles({ home }: Pick<Service, 'home'>): ReadonlyMap<string, Buffer> {
  const files = globSync('**/*', { cwd: home }).map((name) => join(home, name))
  return new Map(files.filter((file) => statSync(file).isFile()).map((file) => [file, readFileSync(file)]))
}
