// Runs another program and ends it with the gateway: when the gateway closes the standard input, as it also does by dying,
// the program is told to stop and killed where it does not, and so is everything that it has started.
//
//     node guard.ts <program> <arguments>

import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const stopMsMax = 10_000
const lookMs = 20
const [program = '', ...args] = process.argv.slice(2)

// In a group of its own, by which what a script has started is reached as well.
const child = spawn(program, args, { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
let isStopping = false
let isKilled = false

child.once('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(127)
})
child.once('exit', (code, signal) => {
  // What it has left behind would keep the port from the next one.
  stop()
  setInterval(() => {
    if (isKilled || !signalGroup(0)) process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL'])
  }, lookMs)
})

function stop(): void {
  if (isStopping) return
  isStopping = true
  signalGroup('SIGTERM')
  setTimeout(() => {
    signalGroup('SIGKILL')
    isKilled = true
  }, stopMsMax)
}

/** Returns whether there was anything left in it. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal)
  } catch {
    return false
  }
}

process.stdin.once('end', stop).once('error', stop).resume()
// A signal to the group of the guard does not reach that of the program.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
