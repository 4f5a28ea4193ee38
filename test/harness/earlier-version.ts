import { execFileSync, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Why a test with that version has to be left out, as a test's `skip`; false where this clone has the commit. */
export function isOutOfReach(commit: string): string | false {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root, stdio: 'ignore' })
  return status === 0 ? false : `this clone does not reach back to ${commit}`
}

/** Puts an earlier version into a folder, with the packages of today. Returns its program. */
export function extractVersion(commit: string, folder: string): string {
  const archive = execFileSync('git', ['archive', commit, 'src', 'package.json', 'weights'], {
    cwd: root,
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'src/cli/main.ts')
}
