// A backup ends with a line that holds the sha256 of everything before it. SQLite reads no further than the pages that
// its header counts, so the file can be opened as it is.

import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs'

const words = '\nOdyssey backup, sha256 of what comes before: '
const line = new RegExp(`^${words}([0-9a-f]{64})\n$`)
const lineBytes = words.length + 65

/** Adds the line to a finished file, which outlasts a power cut with it. */
export async function addChecksum(path: string): Promise<void> {
  const digest = await digestOf(path, statSync(path).size)
  appendFileSync(path, `${words}${digest}\n`, { flush: true })
}

/** Throws where the file is not what was written. One without the line is no backup, or was made before there was one. */
export async function requireChecksum(path: string): Promise<void> {
  const { size } = statSync(path)
  const end = Math.max(0, size - lineBytes)
  const written = line.exec(readAt(path, end, lineBytes).toString('latin1'))
  if (written === null ? isCutOff(path, size) : (await digestOf(path, end)) !== written[1]) {
    throw new Error(`${path} is damaged: its content is not what its checksum says. Take another backup.`)
  }
}

/** A database is a whole number of pages. Of a backup that lost its line and more, SQLite would read the last page as it is. */
function isCutOff(path: string, size: number): boolean {
  const header = readAt(path, 0, 18)
  if (!header.toString('latin1').startsWith('SQLite format 3\0')) return false
  // The largest size of a page, 65,536, does not fit into the field and is written as 1.
  const pageBytes = header.readUInt16BE(16)
  return size % (pageBytes === 1 ? 65_536 : pageBytes) !== 0
}

async function digestOf(path: string, size: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path, { end: size - 1, highWaterMark: 1024 * 1024 })) {
    hash.update(piece as Buffer)
  }
  return hash.digest('hex')
}

function readAt(path: string, position: number, length: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(length)
    readSync(file, bytes, 0, length, position)
    return bytes
  } finally {
    closeSync(file)
  }
}
