import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Has the dashboard built, as the launcher does it: nothing is done where the sources are as they were. */
export function buildOnce(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../bin/build-dashboard.cjs')], { stdio: 'inherit' })
}
