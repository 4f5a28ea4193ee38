// What a child does that was taken over: it tries to reach what is not its own, and tells what came of it.

import { spawnSync } from 'node:child_process'
import { linkSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { giveUpRest } from '../../../src/engines/llama/child/give-up-rest.ts'
import { openLinuxCalls } from '../../../src/lib/system/linux-calls.ts'
import { callNumbers } from '../../../src/engines/llama/confinement/system-calls.ts'

export type Attempt =
  | { readonly kind: 'read' | 'list' | 'write'; readonly path: string }
  | { readonly kind: 'link' | 'symlink' | 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'connect'; readonly port: number }
  | { readonly kind: 'connect-path'; readonly path: string }
  | { readonly kind: 'socket'; readonly family: number; readonly type: number }
  | { readonly kind: 'spawn'; readonly path: string; readonly args: readonly string[] }
  | { readonly kind: 'signal'; readonly pid: number }
  | { readonly kind: 'grow' }

function attempt(wanted: Attempt): unknown {
  switch (wanted.kind) {
    case 'read':
      return readFileSync(wanted.path)
    case 'list':
      return readdirSync(wanted.path)
    case 'write':
      return writeFileSync(wanted.path, 'changed')
    case 'link':
      return linkSync(wanted.path, wanted.to)
    case 'symlink':
      symlinkSync(wanted.path, wanted.to)
      return readFileSync(wanted.to)
    case 'rename':
      return renameSync(wanted.path, wanted.to)
    case 'connect':
      return connected({ host: '127.0.0.1', port: wanted.port })
    case 'connect-path':
      return connected({ path: wanted.path })
    case 'socket':
      return openLinuxCalls().call(
        'socket',
        callNumbers[process.arch as 'x64'].socket ?? 0,
        wanted.family,
        wanted.type,
        0,
      )
    case 'spawn': {
      const { error, status } = spawnSync(wanted.path, wanted.args)
      if (error !== undefined) throw error
      return status
    }
    case 'signal':
      return process.kill(wanted.pid, 0)
    case 'grow':
      return grow()
    default:
      return wanted satisfies never
  }
}

function connected(options: { host: string; port: number } | { path: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    connect(options as { path: string })
      .once('connect', () => resolve('connected'))
      .once('error', reject)
  })
}

/** Memory that nobody gives back, and that is really written to. */
function grow(): never {
  const held: Buffer[] = []
  for (;;) held.push(Buffer.alloc(16 * 1024 * 1024, held.length))
}

giveUpRest()
process.on('disconnect', () => process.exit(0))
process.on('message', (wanted: Attempt) => {
  void Promise.resolve()
    .then(() => attempt(wanted))
    .then(() => process.send?.('done'))
    .catch((error: unknown) => process.send?.((error as NodeJS.ErrnoException).code ?? String(error)))
})
process.send?.('begun')
