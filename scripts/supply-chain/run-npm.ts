import { spawnSync } from 'node:child_process'

type NpmSettings = { readonly folder: string; readonly environment?: Readonly<Record<string, string | undefined>> }

/**
 * The settings under which an update may choose versions.
 *
 * They are not in .npmrc: the lockfile names no addresses, so npm would look each
 * version up again, and refuse to install what was reviewed and locked a day ago.
 */
export function updateArguments(ageDays: number, wanted: readonly string[]): string[] {
  const settings = [
    '--package-lock-only',
    '--ignore-scripts',
    `--min-release-age=${ageDays}`,
    '--no-audit',
    '--no-fund',
  ]
  return wanted.length === 0 ? ['update', ...settings] : ['install', '--save-exact', ...settings, ...wanted]
}

/** Whether this machine's npm keeps to a minimum age; an older one would take no notice of it. Null where there is no npm. */
export function knowsReleaseAge(settings: NpmSettings): boolean | null {
  const { error, stdout } = run(['config', 'list', '--json'], settings)
  if (error !== undefined) return null
  return Object.hasOwn(JSON.parse(stdout) as object, 'min-release-age')
}

/** Returns npm's exit code; what it says goes to this process's own output. */
export function runNpm(args: readonly string[], settings: NpmSettings): number {
  return run(args, settings, 'inherit').status ?? 1
}

function run(args: readonly string[], { folder, environment = process.env }: NpmSettings, stdio?: 'inherit') {
  const isWindows = process.platform === 'win32'
  return spawnSync(isWindows ? 'npm.cmd' : 'npm', args, {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    shell: isWindows,
    maxBuffer: 16 * 1024 * 1024,
    stdio: stdio ?? ['ignore', 'pipe', 'ignore'],
  })
}
