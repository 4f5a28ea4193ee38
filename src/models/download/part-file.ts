import { open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder, writeFileDurably } from '../../lib/write-file-durably.ts'

/** What a part is a part of. A download goes on only where nothing of this has changed. */
export type PartIdentity = {
  readonly source: string
  /** The server's name for this very content; null where it has none. */
  readonly tag: string | null
  /** The tag as the server wants to be reminded of it when it is asked for the rest. */
  readonly ifRange: string | null
  readonly totalBytes: number | null
}

/** Bytes after which what has arrived is made to outlast a power cut; on disks of a server that takes a moment. */
const syncEveryBytes = 64 * 1024 * 1024

const noteRoomBytes = 64 * 1024

/**
 * A file on its way: `NAME.part`, and `NAME.part.json`, which says what it is a part of.
 *
 * Only bytes that were synced to the disk count when a later process goes on:
 * after a power cut a file may be as long as it was and hold zeros.
 */
export class PartFile {
  readonly path: string
  readonly #file: FileHandle
  #identity: PartIdentity | null = null
  #bytes = 0
  #syncedBytes = 0

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  static async open(finalPath: string): Promise<PartFile> {
    const path = `${finalPath}.part`
    const part = new PartFile(path, await openOrCreate(path))
    const note = await readNote(`${path}.json`)
    if (note !== null) {
      const { syncedBytes, ...identity } = note
      part.#identity = identity
      part.#syncedBytes = Math.min(syncedBytes, (await stat(path)).size)
    }
    part.#bytes = part.#syncedBytes
    await part.#file.truncate(part.#bytes)
    return part
  }

  get bytes(): number {
    return this.#bytes
  }

  get identity(): PartIdentity | null {
    return this.#identity
  }

  /** Forgets what has arrived and begins with another content, or with the same one again. */
  async restart(identity: PartIdentity | null): Promise<void> {
    await this.#file.truncate(0)
    this.#bytes = 0
    this.#syncedBytes = 0
    this.#identity = identity
    this.#writeNote(0)
  }

  async append(piece: Uint8Array): Promise<void> {
    let written = 0
    while (written < piece.length) {
      const { bytesWritten } = await this.#file.write(piece, written, piece.length - written, this.#bytes)
      written += bytesWritten
      this.#bytes += bytesWritten
    }
    if (this.#bytes - this.#syncedBytes >= syncEveryBytes) await this.sync()
  }

  async sync(): Promise<void> {
    if (this.#bytes === this.#syncedBytes) return
    const syncedBytes = this.#bytes
    await this.#file.sync()
    this.#writeNote(syncedBytes)
    this.#syncedBytes = syncedBytes
  }

  /** Notes down what has arrived and lets go of the file. */
  async close(): Promise<void> {
    try {
      await this.sync()
    } catch {
      await this.#syncOnFullDisk()
    }
    await this.#file.close()
  }

  /** The end of what has arrived makes room for the note of all the rest. */
  async #syncOnFullDisk(): Promise<void> {
    this.#bytes = Math.max(this.#syncedBytes, this.#bytes - noteRoomBytes)
    try {
      await this.#file.truncate(this.#bytes)
      await this.sync()
    } catch {
      // What could not be noted down is fetched once more, which is all that is lost.
    }
  }

  #writeNote(syncedBytes: number): void {
    writeFileDurably(`${this.path}.json`, JSON.stringify({ ...this.#identity, syncedBytes }))
  }
}

/** Gives a complete and checked part its name, in one step. */
export async function commitPart(finalPath: string): Promise<void> {
  await rename(`${finalPath}.part`, finalPath)
  syncFolder(dirname(finalPath))
  await rm(`${finalPath}.part.json`, { force: true })
}

export async function discardPart(finalPath: string): Promise<void> {
  await rm(`${finalPath}.part`, { force: true })
  await rm(`${finalPath}.part.json`, { force: true })
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    return open(path, 'wx+', 0o600)
  }
}

type Note = PartIdentity & { readonly syncedBytes: number }

/** A note that is missing, of nothing in particular or damaged costs a new beginning and nothing else. */
async function readNote(path: string): Promise<Note | null> {
  try {
    const note: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isNote(note) ? note : null
  } catch {
    return null
  }
}

function isNote(note: unknown): note is Note {
  if (typeof note !== 'object' || note === null) return false
  const { source, tag, ifRange, totalBytes, syncedBytes } = note as Partial<Record<keyof Note, unknown>>
  return (
    typeof source === 'string' &&
    isTextOrNull(tag) &&
    isTextOrNull(ifRange) &&
    (totalBytes === null || Number.isSafeInteger(totalBytes)) &&
    Number.isSafeInteger(syncedBytes) &&
    Number(syncedBytes) >= 0
  )
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
