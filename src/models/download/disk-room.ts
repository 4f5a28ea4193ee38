import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../lib/message-of.ts'
import { DownloadError } from './download-error.ts'

/** Bytes that this user may still write to the disk of a folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

export type DiskRoomOptions = {
  readonly path: string
  /** Room on the disk that others need. */
  readonly spareBytes: number
  freeBytes(folder: string): Promise<number>
}

/** The room for a file on its disk. */
export class DiskRoom {
  readonly #options: DiskRoomOptions

  constructor(options: DiskRoomOptions) {
    this.#options = options
  }

  /** Throws unless so many bytes fit beside what others need. */
  async require(missingBytes: number): Promise<void> {
    const fault = await this.#describe(missingBytes)
    if (fault.neededBytes > fault.freeBytes) throw new DownloadError(fault, 'The disk has too little room.')
  }

  /** What a failed write means, of a file that so many bytes are missing of. */
  async describeWriteFailure(error: unknown, missingBytes: number): Promise<DownloadError> {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      return new DownloadError(await this.#describe(missingBytes), 'The disk is full.', { cause: error })
    }
    const reason = messageOf(error)
    return new DownloadError({ kind: 'refused' }, `The file cannot be written: ${reason}`, { cause: error })
  }

  async #describe(missingBytes: number) {
    const { path, spareBytes, freeBytes: measure } = this.#options
    const neededBytes = missingBytes + spareBytes
    return { kind: 'no-space', neededBytes, freeBytes: await measure(dirname(path)) } as const
  }
}
