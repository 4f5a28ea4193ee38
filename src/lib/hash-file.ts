import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** The sha256 of a file as it lies on the disk, in hexadecimal digits. */
export async function hashFile(
  path: string,
  signal: AbortSignal,
  onProgress: (bytes: number) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024, signal })) {
    const chunk = piece as Buffer
    hash.update(chunk)
    bytes += chunk.length
    onProgress(bytes)
  }
  return hash.digest('hex')
}
