import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeFileDurably } from '../../lib/write-file-durably.ts'

/** What shows that a file was touched: no program sets the last of these to what it was. */
const stampSchema = z.strictObject({
  dev: z.string(),
  ino: z.string(),
  size: z.string(),
  mtimeNs: z.string(),
  ctimeNs: z.string(),
})
export type FileStamp = z.output<typeof stampSchema>

const digestSchema = z.strictObject({
  sha256: z.string(),
  /** A file that was fetched must stay what it was; one that the operator brought is theirs to replace. */
  origin: z.enum(['fetched', 'operator']),
  stamp: stampSchema,
})
/** What a file's content was, and how the file looked then. */
export type KnownDigest = z.output<typeof digestSchema>

const schema = z.record(z.string(), digestSchema)

const fileName = 'weights-digests.json'

/** By absolute path. A file that is damaged costs that everything is hashed once more. */
export function readDigests(home: string): Readonly<Record<string, KnownDigest>> {
  const path = join(home, fileName)
  if (!existsSync(path)) return {}
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return {}
  }
}

/** Null forgets what was known of a file. */
export function writeDigest(home: string, path: string, digest: KnownDigest | null): void {
  const { [path]: _, ...others } = readDigests(home)
  const digests = digest === null ? others : { ...others, [path]: digest }
  writeFileDurably(join(home, fileName), `${JSON.stringify(digests, null, 2)}\n`)
}

export function stampOf(path: string): FileStamp {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
  return {
    dev: String(dev),
    ino: String(ino),
    size: String(size),
    mtimeNs: String(mtimeNs),
    ctimeNs: String(ctimeNs),
  }
}

export function isSameStamp(a: FileStamp, b: FileStamp): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs && a.ctimeNs === b.ctimeNs
}
