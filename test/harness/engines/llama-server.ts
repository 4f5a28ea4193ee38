import { spawn, type ChildProcess } from 'node:child_process'
import { dirname } from 'node:path'
import { findFreePort } from '../http/find-free-port.ts'
import { until } from '../start-service.ts'

/** Loading large weights from a slow disk takes minutes. */
const startMsMax = 600_000

export type LlamaServer = {
  readonly address: string
  /** How it ended before it was stopped, with the last it said; null where it has not. */
  ended(): string | null
  stop(): Promise<void>
}

/** Starts llama.cpp's own server, which listens on this machine alone, and waits until it is ready. */
export async function launchLlamaServer(path: string, settings: readonly string[]): Promise<LlamaServer> {
  const port = await findFreePort()
  const address = `http://127.0.0.1:${port}`
  const child = spawn(path, ['--host', '127.0.0.1', '--port', String(port), ...settings], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // What lies beside the program goes before what it was built with.
    env: { ...process.env, LD_LIBRARY_PATH: dirname(path) },
  })
  process.once('exit', () => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4_000)))
  }
  let isStopped = false
  let ended: string | null = null
  const exited = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      if (!isStopped) ended = `It ended with ${signal ?? code}:\n${output}`
      resolve()
    }),
  )
  child.once('error', (error) => (output += error.message))
  await until(() => isHealthy(address, child, () => output), 'llama-server did not become ready.', startMsMax)
  return {
    address,
    ended: () => ended,
    stop() {
      isStopped = true
      child.kill()
      return exited
    },
  }
}

async function isHealthy(address: string, child: ChildProcess, output: () => string): Promise<boolean> {
  if (child.pid === undefined || child.exitCode !== null) throw new Error(`llama-server does not run:\n${output()}`)
  try {
    return (await fetch(`${address}/health`)).ok
  } catch {
    // It does not listen yet.
    return false
  }
}
