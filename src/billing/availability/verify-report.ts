import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { findSigners, parseNote } from '../../lib/signed-note.ts'
import { createRowHash, markBytes, readInTime } from './ledger-digest.ts'
import { marginMs } from './measure.ts'
import { isMonth, periodOf } from './month.ts'
import { reportText } from './report.ts'

export type ReportVerdict = {
  readonly organizationId: OrganizationId
  readonly month: string
  /** Whether one of the keys has signed it. */
  readonly isSigned: boolean
  /** In words; none where all of it follows from the ledger. */
  readonly faults: readonly string[]
}

const head = z.object({
  organization: z.templateLiteral(['org_', z.string()]),
  month: z.string().refine(isMonth),
  currency: z.string(),
  measuredUntil: z.iso.datetime(),
  ledger: z.object({ marksSha256: z.string() }),
})

export class NoReport extends Error {
  override readonly name = 'NoReport'

  constructor() {
    super('This is no report of availability.')
  }
}

/** Computes a signed report once more from the ledger, and says what differs. */
export async function verifyReport(
  db: Database,
  noteText: string,
  keys: readonly Uint8Array[],
): Promise<ReportVerdict> {
  const { note, name, body, report } = readReport(noteText)
  const { organization: organizationId, month, currency } = report
  const isSigned =
    findSigners(
      note,
      keys.map((publicKey) => ({ name, publicKey })),
    ).length > 0
  const question = { organizationId, month, currency }
  const { text } = await reportText(db, question, Date.parse(report.measuredUntil) + marginMs)
  const faults = text === body ? [] : differences(JSON.parse(body), JSON.parse(text), '')
  if (faults.some((fault) => fault.startsWith('ledger.')))
    faults.push(...(await findChangedRows(db, { ...question, marksSha256: report.ledger.marksSha256 })))
  return { organizationId, month, isSigned, faults }
}

function readReport(noteText: string) {
  const note = parseNote(noteText)
  if (note === null) throw new NoReport()
  const end = note.text.indexOf('\n')
  const [name, body] = [note.text.slice(0, end), note.text.slice(end + 1)]
  try {
    const report = head.parse(JSON.parse(body))
    return { note, name, body, report: { ...report, organization: report.organization as OrganizationId } }
  } catch {
    throw new NoReport()
  }
}

/** One sentence for each value that is another one. */
function differences(signed: unknown, computed: unknown, path: string): string[] {
  if (isTree(signed) && isTree(computed)) {
    const names = [...new Set([...Object.keys(signed), ...Object.keys(computed)])]
    return names.flatMap((name) => differences(signed[name], computed[name], path === '' ? name : `${path}.${name}`))
  }
  const [before, now] = [JSON.stringify(signed), JSON.stringify(computed)]
  return before === now ? [] : [`${path}: the report says ${before ?? 'nothing'}, the database ${now ?? 'nothing'}`]
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

const namedMax = 20

type Month = { readonly organizationId: OrganizationId; readonly month: string; readonly marksSha256: string }

/** Names the rows whose hashes are not those of when the month was closed; the first ones, where rows are missing or new. */
async function findChangedRows(db: Database, { organizationId, month, marksSha256 }: Month): Promise<string[]> {
  const stored = await db
    .selectFrom('sla_reports')
    .select('marks')
    .where('organization_id', '=', organizationId)
    .where('month', '=', month)
    .orderBy('version', 'desc')
    .executeTakeFirst()
  if (stored === undefined) return []
  const marks = Buffer.from(stored.marks, 'base64')
  if (createHash('sha256').update(marks).digest('hex') !== marksSha256)
    return ['the marks of the rows are not those that were signed']
  const faults: string[] = []
  const hashOfRow = createRowHash()
  let index = 0
  for await (const row of readInTime(db, organizationId, periodOf(month))) {
    const mark = marks.subarray(index * markBytes, (index + 1) * markBytes)
    if (!hashOfRow(row).subarray(0, markBytes).equals(mark) && faults.length < namedMax) {
      faults.push(`row ${row.sequence} (${row.request_id}, ${row.kind}) is not the one that was reported on`)
    }
    index += 1
  }
  const all = marks.length / markBytes
  if (index !== all) faults.push(`there are ${index} rows, and were ${all}`)
  return faults
}
