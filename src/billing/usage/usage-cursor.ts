/** Where a page of usage ended: whoever asks with it as a cursor gets what comes behind. */
type UsagePosition = { readonly bucket: number; readonly grouped: string }

export function makeCursor({ bucket, grouped }: UsagePosition): string {
  return Buffer.from(JSON.stringify([bucket, grouped])).toString('base64url')
}

export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor'
}

/** Throws `InvalidCursor`. */
export function parseCursor(cursor: string): UsagePosition {
  try {
    const [bucket, grouped] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    if (Number.isSafeInteger(bucket) && typeof grouped === 'string') return { bucket: bucket as number, grouped }
  } catch {
    // Told below, like a cursor that parses and is none.
  }
  throw new InvalidCursor('This is no cursor of a usage page.')
}
