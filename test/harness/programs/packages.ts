// Packages of other programs' kinds, brought without being installed in the system.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkFile, orMissing } from './cache.ts'

const run = promisify(execFile)

/** Unpacks a package of Debian and its kin in a folder, and returns where. Throws `Missing` with the message where it cannot be had. */
export async function unpackDebian(
  name: string,
  { folder, missing, sha256 }: { readonly folder: string; readonly missing: string; readonly sha256?: string },
): Promise<string> {
  // The lists are fetched anew into this folder: those of the system may be old, and belong to its administrator.
  const places = { 'Dir::State::Lists': 'lists', 'Dir::Cache': 'cache' }
  for (const part of ['lists/partial', 'cache/archives/partial', 'packed'])
    mkdirSync(join(folder, part), { recursive: true })
  const own = Object.entries(places).flatMap(([option, part]) => ['-o', `${option}=${join(folder, part)}`])
  const options = [...own, '-o', 'APT::Sandbox::User=', '--quiet']
  const cwd = join(folder, 'packed')
  await orMissing(missing, run('apt-get', [...options, 'update'], { cwd }))
  await orMissing(missing, run('apt-get', [...options, 'download', name], { cwd }))
  const [packed = ''] = readdirSync(cwd)
  if (sha256 !== undefined) await checkFile(join(cwd, packed), sha256)
  const unpacked = join(folder, 'unpacked')
  await orMissing(missing, run('dpkg-deb', ['-x', join(cwd, packed), unpacked]))
  return unpacked
}

type PythonPackages = {
  /** What pip is told to install. */
  readonly wanted: readonly string[]
  /** The same, without what these say that they need. */
  readonly alone?: readonly string[]
}

/** The programs of a Python that was made before and is whole; null where there is none. */
export function findPython(home: string): string | null {
  return existsSync(join(home, complete)) ? join(home, 'bin') : null
}

/** There once all is installed. */
const complete = 'complete'

/** Makes a Python with packages of its own, and resolves with its programs. Throws `Missing` where it cannot be had. */
export async function makePython(
  home: string,
  { wanted, alone = [] }: PythonPackages,
  called: string,
): Promise<string> {
  // What is in such a folder knows its own path, so it is made where it stays.
  rmSync(home, { recursive: true, force: true })
  const environment = run('python3', ['-m', 'venv', home])
  await orMissing(`${called}: there is no python3 that makes environments (venv).`, environment)
  for (const words of [wanted, ...(alone.length > 0 ? [['--no-deps', ...alone]] : [])]) {
    const install = run(join(home, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...words])
    await orMissing(`${called}: pip cannot install what it takes.`, install)
  }
  writeFileSync(join(home, complete), '')
  return join(home, 'bin')
}
