/** Where a page of usage ended: whoever asks with it as a cursor gets what comes behind. */
type UsagePosition = { readonly bucket: number; readonly grouped: string }

export function makeCursor({ bucket, grouped }: UsagePosition): string {
  return Buffer.from(JSON.stringify([bucket, grouped])).toString('base64url')
}

export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor'
}

/** Where a page ended of the whole time at once, or of one hour or day after the other. Throws `InvalidCursor`. */
export function parseCursor(cursor: string, isWhole: boolean): UsagePosition {
  try {
    const [bucket, grouped] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[]
    // PostgreSQL knows no U+0000, so that nothing is grouped by it.
    const isGroup = typeof grouped === 'string' && !grouped.includes('\0')
    const isBucket = Number.isSafeInteger(bucket) && (!isWhole || bucket === 0)
    if (isBucket && isGroup) return { bucket: bucket as number, grouped }
  } catch {
    // Told below, like a cursor that parses and is none.
  }
  throw new InvalidCursor('This is no cursor of a usage page.')
}
