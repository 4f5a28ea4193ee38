import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { connectCommand } from '../../src/cli/connect/connect-command.ts'

export type ConnectEnd = {
  readonly printed: string
  /** Null when the command ended well. */
  readonly fault: Error | null
}

/** Runs `odyssey connect` in this process: on the data folder that its environment names. */
export async function tryConnect(...args: string[]): Promise<ConnectEnd> {
  const lines: string[] = []
  const log = mock.method(console, 'log', (text: unknown) => void lines.push(String(text)))
  let fault: Error | null = null
  try {
    await connectCommand(args)
  } catch (error) {
    fault = error as Error
  } finally {
    log.mock.restore()
  }
  return { printed: lines.join('\n'), fault }
}

/** Runs it and expects that it ends well. Returns what it printed. */
export async function connect(...args: string[]): Promise<string> {
  const { printed, fault } = await tryConnect(...args)
  if (fault !== null) throw fault
  return printed
}

const folders = mkdtempSync(join(tmpdir(), 'odyssey-connect-'))
process.once('exit', () => rmSync(folders, { recursive: true, force: true }))

/** A folder that nobody else has, until the process ends. */
export function emptyFolder(): string {
  return mkdtempSync(join(folders, 'folder-'))
}
