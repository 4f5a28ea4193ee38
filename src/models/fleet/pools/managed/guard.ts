// Runs another program and ends it with the gateway: when the gateway closes the standard input, as it also does by dying,
// the program is told to stop and killed where it does not.
//
//     node guard.ts <program> <arguments>

import { spawn } from 'node:child_process'
import { constants } from 'node:os'

const stopMsMax = 10_000
const [program = '', ...args] = process.argv.slice(2)

const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
child.once('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(127)
})
child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))

function stop(): void {
  child.kill('SIGTERM')
  setTimeout(() => child.kill('SIGKILL'), stopMsMax).unref()
}

process.stdin.once('end', stop).once('error', stop).resume()
// A stop of the whole group tells the program by itself; the guard waits for it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
