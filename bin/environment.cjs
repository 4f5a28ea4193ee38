'use strict'

const os = require('os')
const path = require('path')

/**
 * What has glibc give large blocks back to the system as soon as they are free. By itself it keeps what it was once
 * asked for: 300 attacks with bodies of up to 30 MB took the service from 180 MiB to 285 for good, and with
 * these to 221. Other C libraries know nothing of them.
 */
const memorySettings = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/**
 * What Node itself is started with. Older Nodes than the pinned one still call some of what is used here experimental.
 * V8's young generation takes up to 16 MiB a half by default, and keeps them: halves of 8 MiB save a service that is
 * asked 300 times a second 40 MiB of 285, for no processor time that `bench/gateway` could show.
 *
 * V8 collects old garbage with four threads beside the program, however many cores there are. On one core the program
 * has a fifth of it meanwhile; with one such thread it has half, and the first text of `bench/pool` at 60 a second comes
 * 15 ms later at P99 in the place of 40.
 */
function nodeArguments() {
  const threads = Math.min(4, coresAvailable())
  return ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8', `--v8-pool-size=${threads}`]
}

/** Those that this process may run on; Nodes before 18.14 tell those of the machine alone. */
function coresAvailable() {
  return os.availableParallelism ? os.availableParallelism() : Math.max(1, os.cpus().length)
}

/** What a program is started with. Programs that it starts by the name of `node` get the same Node. */
function environmentFor(root, node) {
  const environment = Object.assign({}, memorySettings, process.env)
  const pathName = Object.keys(environment).find((name) => name.toUpperCase() === 'PATH') || 'PATH'
  const directories = [path.dirname(node), environment[pathName]].filter(Boolean)
  environment[pathName] = directories.join(path.delimiter)
  if (!environment.NODE_COMPILE_CACHE) {
    environment.NODE_COMPILE_CACHE = path.join(root, 'node_modules', '.cache', 'compile')
  }
  return environment
}

module.exports = { environmentFor, memorySettings, nodeArguments }
