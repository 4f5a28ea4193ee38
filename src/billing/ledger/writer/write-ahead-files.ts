// Write-ahead files: ledger rows that PostgreSQL could not take yet, in the data folder.
//
// A file holds one row a line, a checksum before it. Lines are only ever appended, and
// a row counts once its line is on the disk. When PostgreSQL is back, files are read
// from the oldest on and deleted whole, so a row may be read twice and is never left out.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { open, readFile, rename, writeFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createTurns } from '../../../lib/turns.ts'
import { syncFolder } from '../../../lib/write-file-durably.ts'
import type { NewLedgerRow } from './ledger-writer.ts'
import { crc32 } from 'node:zlib'

export type WriteAheadFile = {
  readonly path: string
  readonly rows: readonly NewLedgerRow[]
  /** Whole lines that do not have the checksum they were written with. */
  readonly damagedCount: number
}

export type WriteAheadFiles = {
  /** Resolves once the rows are on the disk. */
  append(rows: readonly NewLedgerRow[]): Promise<void>
  /** Throws when rows could not be appended at the moment. */
  probe(): Promise<void>
  fileCount(): number
  /** The oldest file's rows; from now on nothing is appended to that file. Null when there is none. */
  oldest(): Promise<WriteAheadFile | null>
  /** A file with damaged lines is kept beside the others, under another name. */
  remove(file: WriteAheadFile): Promise<void>
  close(): Promise<void>
}

type Current = { readonly path: string; readonly handle: FileHandle; bytes: number }

/** Small enough that a file is read back in one piece and its rows are deleted soon after they were written. */
const fileBytesMax = 4 * 1024 * 1024

const probeBytes = 65_536

/** `bytesMax` bounds all files together; what would exceed it is refused. */
export function openWriteAheadFiles(folder: string, bytesMax: number): WriteAheadFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const sizes = new Map(listFiles(folder).map((path) => [path, statSync(path).size]))
  let lastNumber = Math.max(0, ...readdirSync(folder).map(numberOf))
  let current: Current | null = null
  const inTurn = createTurns()

  async function finish(): Promise<void> {
    const finished = current
    current = null
    await finished?.handle.close()
  }

  function requireRoom(bytes: number): void {
    const total = sizes.values().reduce((sum, size) => sum + size, 0)
    if (total + bytes <= bytesMax) return
    throw new Error(`The write-ahead files of the ledger hold ${total} bytes and may not grow beyond ${bytesMax}.`)
  }

  async function append(text: Buffer): Promise<void> {
    requireRoom(text.length)
    if (current !== null && current.bytes >= fileBytesMax) await finish()
    if (current === null) {
      const path = join(folder, `${String((lastNumber += 1)).padStart(12, '0')}.rows`)
      current = await begin(path)
      sizes.set(path, 0)
    }
    const target = current
    try {
      await target.handle.appendFile(text)
      await target.handle.datasync()
    } catch (error) {
      current = null
      await cutOff(target)
      throw error
    }
    target.bytes += text.length
    sizes.set(target.path, target.bytes)
  }

  return {
    append: (rows) => inTurn(() => append(Buffer.from(rows.map(toLine).join('')))),
    async probe() {
      requireRoom(probeBytes)
      await writeProbe(join(folder, 'probe'))
    },
    fileCount: () => sizes.size,
    oldest: () =>
      inTurn(async () => {
        const [path] = [...sizes.keys()].toSorted()
        if (path === undefined) return null
        if (path === current?.path) await finish()
        return { path, ...readLines(await readFile(path, 'utf8')) }
      }),
    async remove({ path, damagedCount }) {
      if (damagedCount > 0) await rename(path, `${path}.damaged`)
      else rmSync(path, { force: true })
      sizes.delete(path)
      syncFolder(folder)
    },
    close: () => inTurn(finish),
  }
}

async function begin(path: string): Promise<Current> {
  const handle = await open(path, 'ax', 0o600)
  syncFolder(dirname(path))
  return { path, handle, bytes: 0 }
}

async function writeProbe(path: string): Promise<void> {
  try {
    await writeFile(path, Buffer.alloc(probeBytes), { flush: true })
  } finally {
    rmSync(path, { force: true })
  }
}

/** Cuts off the bytes written last, which were never acknowledged; the file is not written to again. */
async function cutOff({ handle, bytes }: Current): Promise<void> {
  try {
    await handle.truncate(bytes)
    await handle.datasync()
  } catch {
    // A part of a line stays, which its checksum gives away, or rows whose caller was told that they were not written.
  } finally {
    await handle.close().catch(() => {})
  }
}

function listFiles(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^\d+\.rows$/.test(name))
  return names.toSorted().map((name) => join(folder, name))
}

/** A file that was kept for its damaged lines has its number still: another one would come to lie in its place. */
function numberOf(name: string): number {
  return Number(/^(\d+)\.rows(\.damaged)?$/.exec(name)?.[1] ?? 0)
}

/** Eight hexadecimal digits of a checksum, a space, and the row as JSON. */
function toLine(row: NewLedgerRow): string {
  const json = JSON.stringify(row)
  return `${checksum(json)} ${json}\n`
}

/** A last line without its end was being written when the process ended; it was never acknowledged. */
function readLines(text: string): { rows: NewLedgerRow[]; damagedCount: number } {
  const rows: NewLedgerRow[] = []
  let damagedCount = 0
  for (const line of text.split('\n').slice(0, -1)) {
    const json = line.slice(9)
    if (line.slice(0, 9) === `${checksum(json)} `) rows.push(JSON.parse(json) as NewLedgerRow)
    else damagedCount += 1
  }
  return { rows, damagedCount }
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0')
}
