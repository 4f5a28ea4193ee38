import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { signNote, type SigningKey } from '../../lib/signed-note.ts'
import { listEnded, periodOf } from './month.ts'
import { reportText, type SlaQuestion } from './report.ts'

/** With what reports are signed: the keys of the audit's checkpoints, the newest first, and the installation's name. */
export type ReportSigning = { readonly keys: readonly SigningKey[]; readonly name: string }

export type MonthParts = { readonly db: Database; readonly clock: Clock; readonly currency: string }

/** The name under which the reports of an organization are signed, which is also their first line. */
export function reportName({ name }: Pick<ReportSigning, 'name'>, organizationId: OrganizationId): string {
  return `${name}/sla/${organizationId}`
}

/**
 * Signs the reports of the months that are over for every organization that has none yet, and writes down what is given back.
 *
 * Both in one transaction, under a key that there can be once: however often this runs, in how many gateways, a month
 * is closed once. Who has no key to sign with leaves it to the others. Returns the months of which everything that is
 * given back is written down, the earliest first.
 */
export async function closeMonths(parts: MonthParts, signing: ReportSigning): Promise<readonly string[]> {
  const { db, clock, currency } = parts
  if (signing.keys.length === 0) return []
  const ended = await listEnded(db, clock.nowMs())
  for (const month of ended) {
    const open = await db
      .selectFrom('organizations')
      .leftJoin('sla_reports', (join) =>
        join.onRef('sla_reports.organization_id', '=', 'organizations.id').on('sla_reports.month', '=', month),
      )
      .select('organizations.id')
      .where('sla_reports.month', 'is', null)
      .where('organizations.created_at', '<', periodOf(month).untilMs)
      .orderBy('organizations.id')
      .execute()
    for (const { id: organizationId } of open) {
      await closeMonth(parts, signing, { organizationId, month, currency })
    }
  }
  return ended
}

/** Writes the first report of a month, or another version of it. Returns its number; null where somebody else was faster. */
export async function closeMonth(
  { db, clock }: Pick<MonthParts, 'db' | 'clock'>,
  signing: ReportSigning,
  question: SlaQuestion,
  version = 1,
): Promise<number | null> {
  const { organizationId, month } = question
  const nowMs = clock.nowMs()
  const { text, numbers, digest } = await reportText(db, question, nowMs)
  if (numbers.models.length === 0) return null
  const name = reportName(signing, organizationId)
  const note = await signNote(
    `${name}\n${text}`,
    signing.keys.map((key) => ({ name, key })),
  )
  return db.transaction().execute(async (transaction) => {
    const marks = digest.marks.toString('base64')
    const written = await transaction
      .insertInto('sla_reports')
      .values({ organization_id: organizationId, month, version, at: nowMs, note, marks })
      .onConflict((conflict) => conflict.doNothing())
      .returning('version')
      .executeTakeFirst()
    if (written === undefined) return null
    const owed = numbers.credits.filter(({ micros }) => micros > 0n)
    if (owed.length === 0) return version
    await transaction
      .insertInto('credits')
      .values(
        owed.map(({ model, micros, percent }) => {
          return { organization_id: organizationId, month, model, micros, percent, created_at: nowMs }
        }),
      )
      // A correction is told of in its report; what was given back once is not taken back by itself.
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return version
  })
}
