import { createHmac, timingSafeEqual } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { lastRestoreMs } from './restores.ts'
import { parseJson } from '../../lib/json/parse-json.ts'

/** How far an organization's chain had come at a time, kept outside the database. */
export type Anchor = {
  readonly at: number
  readonly organization: OrganizationId
  readonly sequence: number
  readonly hash: string
}

export type Anchors = {
  readonly valid: readonly Anchor[]
  /** The numbers of lines that nobody with the install's secret has written. */
  readonly damagedLines: readonly number[]
}

export type AnchorFile = { readonly path: string; readonly key: Uint8Array }

const lineSchema = z.strictObject({
  at: z.int(),
  organization: z.templateLiteral(['org_', z.string()]),
  sequence: z.int().min(1),
  hash: z.string(),
  signature: z.string(),
})

export function readAnchors({ path, key }: AnchorFile): Anchors {
  if (!existsSync(path)) return { valid: [], damagedLines: [] }
  const valid: Anchor[] = []
  const damagedLines: number[] = []
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (line === '') continue
    const anchor = readLine(line, key)
    if (anchor === null) damagedLines.push(index + 1)
    else valid.push(anchor)
  }
  return { valid, damagedLines }
}

/** The anchors that the database has to keep: those from before it was restored belong to what was there then. */
export async function readAnchorsInForce(db: Database, file: AnchorFile): Promise<Anchors> {
  const { valid, damagedLines } = readAnchors(file)
  const restoredAtMs = await lastRestoreMs(db, file.key)
  return { valid: valid.filter(({ at }) => at >= restoredAtMs), damagedLines }
}

/** Writes down where the chains end by now, so that a shortened one is noticed. Returns how many have grown. */
export async function writeAnchors(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  file: AnchorFile,
  isTrusted: (organization: OrganizationId) => boolean = () => true,
): Promise<number> {
  const { valid } = await readAnchorsInForce(db, file)
  const written = new Map(valid.map((anchor) => [anchor.organization, anchor.hash]))
  const ends = await db.selectFrom('audit_chains').selectAll().orderBy('organization_id').execute()
  const grown = ends.filter(({ organization_id: id, sequence, hash }) => {
    return sequence > 0 && written.get(id) !== hash && isTrusted(id)
  })
  const at = clock.nowMs()
  const lines = grown.map(({ organization_id: organization, sequence, hash }) => {
    const anchor = { at, organization, sequence, hash }
    return `${JSON.stringify({ ...anchor, signature: sign(anchor, file.key) })}\n`
  })
  if (lines.length > 0) append(file.path, lines.join(''))
  return grown.length
}

function readLine(line: string, key: Uint8Array): Anchor | null {
  const parsed = lineSchema.safeParse(parseJson(line))
  if (!parsed.success) return null
  const { signature, ...anchor } = parsed.data
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(anchor, key))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? anchor : null
}

function sign({ at, organization, sequence, hash }: Anchor, key: Uint8Array): string {
  const content = JSON.stringify(['odyssey-audit-anchor-1', at, organization, sequence, hash])
  return createHmac('sha256', key).update(content).digest('hex')
}

/** One write, so that two processes that append at once do not mix their lines; on the disk before it counts. */
function append(path: string, text: string): void {
  const isTorn = existsSync(path) && !['', '\n'].includes(readFileSync(path, 'utf8').slice(-1))
  const file = openSync(path, 'a', 0o600)
  try {
    writeSync(file, isTorn ? `\n${text}` : text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
