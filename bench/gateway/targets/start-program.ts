import { spawn, type ChildProcess } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../../test/harness/start-service.ts'
import { pinned } from '../cores.ts'
import { paceVariable } from '../mock/read-pace.ts'
import type { Pace } from '../mock/pacer.ts'

export type TargetSetup = {
  /** A temporary folder for all that is written. */
  readonly folder: string
  readonly cores: string | null
  readonly pace: Pace
}

export type Started = {
  readonly child: ChildProcess
  /** The last of what it has written. */
  output(): string
  stop(): Promise<void>
}

/** LiteLLM takes half a minute to begin on a slow machine. */
const startMsMax = 120_000

/** Starts a program of the bench's own, with a channel for messages. */
export function startOwn(
  file: URL,
  given: readonly string[],
  place: TargetSetup,
  nodeArguments: readonly string[] = [],
): Started {
  const node = [process.execPath, ...process.execArgv, ...nodeArguments]
  return start([...node, file.pathname, ...given], place, true)
}

/** Starts a program of others'. Its output goes to a file, as a service's log does. */
export function start(command: readonly string[], { folder, cores, pace }: TargetSetup, hasChannel = false): Started {
  const [program = '', ...given] = pinned(command, cores)
  const outputPath = join(folder, 'output.log')
  const output = openSync(outputPath, 'a')
  const child = spawn(program, given, {
    stdio: ['ignore', output, output, ...(hasChannel ? (['ipc'] as const) : [])],
    cwd: folder,
    env: { ...process.env, [paceVariable]: JSON.stringify(pace) },
  })
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve())
  })
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    child,
    output: () => readFileSync(outputPath, 'utf8').slice(-4_000),
    async stop() {
      child.kill()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(timer)
    },
  }
}

/** The next message of a program of the bench's own. */
export function nextMessage<Message>({ child, output }: Started): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`A program of the bench has ended:\n${output()}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message as Message)
    })
  })
}

/** Any answer at all says that it listens. */
export async function untilListening(url: URL, { child, output }: Started, name: string): Promise<void> {
  await until(
    async () => {
      if (child.pid === undefined || child.exitCode !== null) throw new Error(`${name} does not run:\n${output()}`)
      return fetch(url).then(
        () => true,
        () => false,
      )
    },
    `${name} does not listen.`,
    startMsMax,
  )
}
