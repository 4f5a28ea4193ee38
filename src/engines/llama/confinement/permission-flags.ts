import type { ReachablePaths } from './plan.ts'

/**
 * Has Node itself keep a child to its files, where the system does not.
 *
 * It binds what is written in JavaScript and no native code, so it is the
 * second best. The network is refused as all else that is not allowed here.
 */
export function permissionFlags({ read, list, write, devices, execute }: ReachablePaths): string[] {
  return [
    '--permission',
    '--allow-addons',
    // The library tries itself out in a process of its own; a child gives both of these up before it loads weights.
    '--allow-child-process',
    // Before there was this flag there was nothing to allow.
    ...['--allow-ffi'].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag)),
    // The flags above each warn that they should be used with caution.
    '--disable-warning=SecurityWarning',
    ...[...read, ...list, ...write, ...devices, ...execute].map((path) => `--allow-fs-read=${path}`),
    ...write.map((path) => `--allow-fs-write=${path}`),
  ]
}
