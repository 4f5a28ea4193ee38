import { ApiError, conflict } from '../../core/error.ts'
import { change, type ChangeParts, type Fields } from '../../db/change.ts'
import type { DomainTable } from '../../db/tables/single-sign-on.ts'
import { domainCheckMs, domainGraceMs, recordOf } from './domains.ts'
import type { ResolveTexts } from './parts.ts'

/** So soon it is looked again for a record that is missing, or of which nobody could say whether it is there. */
const againMs = 3_600_000
/** Each may take seconds; what is due beyond these is looked at the next time. */
const domainsMax = 50

export type CheckingParts = Pick<ChangeParts, 'db' | 'clock'> & { readonly resolveTexts: ResolveTexts }

/**
 * Looks again for the records of verified domains, each of them once a day by all gateways together. One whose record has
 * been gone for a week is verified no more, since it may be somebody else’s by now. Servers that do not answer prove nothing.
 */
export async function checkDomains(parts: CheckingParts): Promise<void> {
  const due = await parts.db
    .selectFrom('domains')
    .selectAll()
    .where('look_at', '<=', parts.clock.nowMs())
    .orderBy('look_at')
    .orderBy('id')
    .limit(domainsMax)
    .execute()
  for (const row of due) await checkDomain(parts, row)
}

async function checkDomain(parts: CheckingParts, before: DomainTable): Promise<void> {
  const nowMs = parts.clock.nowMs()
  const row = { ...before, look_at: nowMs + againMs }
  // Another gateway may be looking by now.
  if (!(await setColumns(parts.db, before, { look_at: row.look_at }))) return
  const { name, value } = recordOf(row)
  const texts = await parts.resolveTexts(name)
  if (texts === null) return
  const { missing_since } = row
  const found = { checked_at: nowMs, missing_since: null, look_at: nowMs + domainCheckMs }
  if (texts.includes(value)) {
    if (missing_since === null) await setColumns(parts.db, row, found)
    else await conclude(parts, row, { action: 'domains:return', columns: found })
  } else if (missing_since === null) {
    await conclude(parts, row, { action: 'domains:miss', columns: { checked_at: nowMs, missing_since: nowMs } })
  } else if (nowMs < missing_since + domainGraceMs) {
    await setColumns(parts.db, row, { checked_at: nowMs })
  } else {
    const columns = { checked_at: nowMs, verified_at: null, look_at: null }
    await conclude(parts, row, { action: 'domains:lapse', columns })
  }
}

type Columns = Partial<Pick<DomainTable, 'verified_at' | 'look_at' | 'checked_at' | 'missing_since'>>

/** Tells whether the row was still as it was read: somebody may have verified or removed the domain meanwhile. */
async function setColumns(db: Pick<CheckingParts['db'], 'updateTable'>, before: DomainTable, columns: Columns) {
  const changed = await db
    .updateTable('domains')
    .set(columns)
    .where('id', '=', before.id)
    .where('organization_id', '=', before.organization_id)
    .where('look_at', '=', before.look_at)
    .returning('id')
    .executeTakeFirst()
  return changed !== undefined
}

type Conclusion = { readonly action: string; readonly columns: Columns }

async function conclude(parts: CheckingParts, row: DomainTable, { action, columns }: Conclusion): Promise<void> {
  const audited = { action, organizationId: row.organization_id, target: row.id }
  try {
    await change(parts, { kind: 'operator' }, audited, async (transaction, note) => {
      if (!(await setColumns(transaction, row, columns))) throw conflict('It has changed.')
      note(toFields(row), toFields({ ...row, ...columns }))
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
}

const toFields = ({ name, verified_at, missing_since }: DomainTable): Fields => ({ name, verified_at, missing_since })
