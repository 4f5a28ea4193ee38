import childProcess, { type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Has the library open its builds without a trial.
 *
 * It tries each one out in a process of its own first. NVIDIA's driver writes into the folder of its process in `/proc`, and a
 * confined child may write to its own there and to none that it starts: a trial would find no card where the child itself has one.
 * A build that breaks ends the child, as a trial would have ended; one that finds no card computes without.
 */
export async function withoutTrial<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  const { fork } = childProcess
  childProcess.fork = passTrial as unknown as typeof fork
  syncBuiltinESMExports()
  try {
    return await open()
  } finally {
    childProcess.fork = fork
    syncBuiltinESMExports()
  }
}

type Asked = { readonly type: 'start' | 'test' | 'exit' }

/** What a process says in which a build is tried out with success: it is ready, has loaded it, is done. */
function passTrial(): Pick<ChildProcess, 'exitCode' | 'kill' | 'killed'> {
  const trial = new EventEmitter()
  const say = (type: string) => setImmediate(() => trial.emit('message', { type }))
  say('ready')
  return Object.assign(trial, {
    exitCode: null,
    killed: false,
    kill: () => true,
    send({ type }: Asked) {
      if (type === 'exit') setImmediate(() => trial.emit('exit', 0))
      else say(type === 'start' ? 'loaded' : 'done')
      return true
    },
  })
}
