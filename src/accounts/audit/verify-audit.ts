import type { OrganizationId } from '../../core/ids.ts'
import { chainStart, hashAuditRow } from '../../db/audit-chain.ts'
import type { Database } from '../../db/database.ts'
import type { AuditTable } from '../../db/tables/audit.ts'
import type { Anchor } from './anchors.ts'
import { readAuditRows } from './read-audit.ts'

export type AuditFault = {
  readonly kind: 'edited' | 'missing' | 'inserted' | 'unlinked' | 'shortened' | 'rewritten'
  /** Where in the chain, as far as it has a place there. */
  readonly sequence: number | null
  readonly message: string
}

export type AuditVerdict = {
  readonly organizationId: OrganizationId
  readonly rows: number
  readonly faults: readonly AuditFault[]
}

const rowsPerRead = 2_000
/** Where everything is wrong, the first of them say enough. */
const faultsMax = 1_000

/** Follows an organization's chain from its first row to its end and to every anchor. */
export async function verifyAudit(
  db: Database,
  organizationId: OrganizationId,
  anchors: readonly Anchor[],
): Promise<AuditVerdict> {
  // Rows may be added meanwhile: all up to the first end must be there, and none behind the last one.
  const endBefore = await readEnd(db, organizationId)
  const own = anchors.filter(({ organization }) => organization === organizationId)
  const walk = new Walk([...own, { at: null, ...endBefore }])
  let afterSequence = 0
  for (;;) {
    const rows = await readAuditRows(db, { organizationId, afterSequence, limit: rowsPerRead })
    for (const row of rows) walk.add(row)
    const last = rows.at(-1)
    if (last?.sequence === undefined || last.sequence === null) break
    afterSequence = last.sequence
  }
  walk.end(await readEnd(db, organizationId))
  for (const { id } of await readPlaceless(db, organizationId)) {
    walk.report('inserted', null, `Row ${id} has no place in the chain.`)
  }
  return { organizationId, rows: walk.rows, faults: walk.faults }
}

type End = { readonly sequence: number; readonly hash: string }

async function readEnd(db: Database, organizationId: OrganizationId): Promise<End> {
  const end = await db
    .selectFrom('audit_chains')
    .select(['sequence', 'hash'])
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return end ?? { sequence: 0, hash: chainStart }
}

/** Rows before the first place; nothing in the program writes such. */
function readPlaceless(db: Database, organizationId: OrganizationId): Promise<{ id: string }[]> {
  return db
    .selectFrom('audit')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where((expression) => expression.or([expression('sequence', 'is', null), expression('sequence', '<', 1)]))
    .limit(faultsMax)
    .execute()
}

/** A place that the chain is known to have come to: anchored at a time, or the end as the database notes it. */
type KnownPlace = End & { readonly at: number | null }

class Walk {
  rows = 0
  readonly faults: AuditFault[] = []
  readonly #known: ReadonlyMap<number, readonly KnownPlace[]>
  #last: { readonly sequence: number; readonly hash: string | null } = { sequence: 0, hash: chainStart }

  constructor(known: readonly KnownPlace[]) {
    this.#known = Map.groupBy(known, ({ sequence }) => sequence)
  }

  add(row: AuditTable): void {
    const sequence = row.sequence ?? 0
    const previous = this.#last
    this.#last = { sequence, hash: row.hash }
    this.rows += 1
    if (hashAuditRow(row, { sequence, previous_hash: row.previous_hash ?? '' }) !== row.hash) {
      this.report('edited', sequence, `Row ${sequence} (${row.id}) is not what was written.`)
    }
    if (sequence !== previous.sequence + 1) this.#reportMissing(previous.sequence + 1, sequence - 1)
    else if (row.previous_hash !== previous.hash) {
      this.report('unlinked', sequence, `Row ${sequence} (${row.id}) does not follow the row before it.`)
    }
    for (const { hash, at } of this.#known.get(sequence) ?? []) {
      if (hash === row.hash) continue
      const place = at === null ? 'at the end of the chain' : `anchored at ${new Date(at).toISOString()}`
      this.report('rewritten', sequence, `Row ${sequence} (${row.id}) is not the one that was ${place}.`)
    }
  }

  end({ sequence: endNow }: End): void {
    const { sequence } = this.#last
    const expected = Math.max(...this.#known.keys())
    if (sequence < expected) {
      this.report('shortened', sequence + 1, `The chain ends at row ${sequence}, but had come to row ${expected}.`)
    }
    if (sequence > endNow) {
      this.report('inserted', endNow + 1, `There are rows up to ${sequence}, but the chain ends at ${endNow}.`)
    }
  }

  report(kind: AuditFault['kind'], sequence: number | null, message: string): void {
    if (this.faults.length < faultsMax) this.faults.push({ kind, sequence, message })
  }

  #reportMissing(from: number, to: number): void {
    this.report('missing', from, from === to ? `Row ${from} is missing.` : `Rows ${from} to ${to} are missing.`)
  }
}
