// The audit is tampered with in every way: by somebody who changes rows, and by somebody who has every secret of the
// installation and writes all of it anew. One earlier checkpoint lies elsewhere. Each is found, with its row and kind.

import { ok } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAuditRows } from '../../../src/accounts/audit/read-audit.ts'
import { verifyAudit } from '../../../src/accounts/audit/verify-audit.ts'
import type { AuditFault, KnownRoot } from '../../../src/accounts/audit/chain-walk.ts'
import {
  readLastCheckpoint,
  signCheckpoint,
  type Signing,
} from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { chainStart, hashAuditRow } from '../../../src/db/audit-chain.ts'
import { change, joinTransaction } from '../../../src/db/change.ts'
import type { Database } from '../../../src/db/database.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import type { AuditTable } from '../../../src/db/tables/audit.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { localKey } from '../../../src/lib/signed-note.ts'
import { Failures, describeCounts, increment, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const organizationId = 'org_1'
/** More than a tile holds. */
const rowsAll = 400
/** What somebody else has kept a checkpoint of. */
const rowsKept = 300

const kinds = ['edit', 'delete', 'insert', 'reorder', 'cut'] as const
type Tamper = {
  readonly kind: (typeof kinds)[number]
  /** The first row that is another one afterwards. */
  readonly place: number
  /** Whether every hash, tile and checkpoint is made anew, with the installation's own key. */
  readonly isWhole: boolean
}

/** Undoes what was done to the database. */
class Undo extends Error {}

export async function runTampers({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const found = new Map<string, number>()
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-tampers-'))
  const db = await openMemoryDatabase()
  try {
    const signing: Signing = {
      keys: [localKey(generateKeyPairSync('ed25519').privateKey)],
      name: 'log.example',
      file: join(folder, 'notes.txt'),
    }
    const root = await fill(db, signing)
    failures.check('untouched', () => ok(rowsAll > rowsKept))
    const before = await verifyAudit(db, organizationId, [], [root])
    failures.check('untouched', () => ok(before.faults.length === 0, 'What nobody touched is said to be changed.'))
    for (let round = 0; round < count; round += 1) {
      const random = createRandom(seed, round)
      const tamper: Tamper = {
        kind: kinds[round % kinds.length] ?? 'edit',
        place: random.integer(1, rowsKept - 1),
        isWhole: round % 2 === 1,
      }
      const elsewhere = { ...signing, file: join(folder, `notes-${round}.txt`) }
      const faults = await faultsAfter(db, tamper, { random, root, signing: elsewhere })
      const fault = faults.find((candidate) => names(candidate, tamper))
      const label = `${tamper.kind} at ${tamper.place}, ${tamper.isWhole ? 'all written anew' : 'rows alone'}`
      const told = faults.map(({ kind, sequence }) => `${kind} ${sequence}`).slice(0, 5)
      failures.check(label, () => ok(fault !== undefined, `It is not named: ${told.join(', ') || 'nothing is told'}.`))
      if (fault !== undefined) increment(found, `${tamper.kind} as ${fault.kind}`)
      if (round % 100 === 99) log(`${round + 1} of ${count}`)
    }
  } finally {
    await db.destroy()
    rmSync(folder, { recursive: true, force: true })
  }
  return failures.toResult({ found: describeCounts(found) })
}

async function fill(db: Database, signing: Signing): Promise<KnownRoot> {
  const parts = { db, clock: systemClock }
  const add = async (from: number, to: number) => {
    for (let number = from; number < to; number += 1) {
      const action = { action: 'things:change', organizationId, target: `thing ${number}` } as const
      await change(parts, { kind: 'operator' }, action, async (_, note) => note({ was: number }, { is: number + 1 }))
    }
  }
  await add(0, rowsKept)
  await signCheckpoint(parts, signing, organizationId)
  const kept = await readLastCheckpoint(db, organizationId)
  if (kept === null) throw new Error('Nothing was signed.')
  await add(rowsKept, rowsAll)
  await signCheckpoint(parts, signing, organizationId)
  return { size: kept.size, root: kept.root, from: 'kept elsewhere' }
}

type Parts = { readonly random: Random; readonly root: KnownRoot; readonly signing: Signing }

/** What the verification says, after which everything is as before. */
async function faultsAfter(
  db: Database,
  tamper: Tamper,
  { random, root, signing }: Parts,
): Promise<readonly AuditFault[]> {
  let faults: readonly AuditFault[] = []
  try {
    await db.transaction().execute(async (transaction) => {
      const joined = joinTransaction(transaction)
      const rows = tampered(
        await readAuditRows(joined, { organizationId, afterSequence: 0, limit: rowsAll }),
        tamper,
        random,
      )
      await replaceRows(joined, tamper.isWhole ? chained(rows) : rows)
      if (tamper.isWhole) await coverTracks(joined, signing)
      faults = (await verifyAudit(joined, organizationId, [], [root])).faults
      throw new Undo()
    })
  } catch (error) {
    if (!(error instanceof Undo)) throw error
  }
  return faults
}

/** The rows as they are afterwards, without new hashes. */
function tampered(rows: readonly AuditTable[], { kind, place, isWhole }: Tamper, random: Random): AuditTable[] {
  const row = rows[place - 1]
  if (row === undefined) throw new Error(`There is no row ${place}.`)
  switch (kind) {
    case 'edit': {
      const changes = [
        { actor: 'somebody' },
        { at: row.at + 1 },
        { after: '{"is":0}' },
        { before: null },
        { target: 't' },
      ]
      return rows.with(place - 1, { ...row, ...changes[random.integer(0, changes.length - 1)] })
    }
    case 'delete':
      return rows.toSpliced(place - 1, 1)
    case 'insert': {
      const added = { ...row, id: 'audit_added', target: 'never happened' }
      // Without new numbers for all that come after it there is no place for it in the chain.
      return isWhole ? rows.toSpliced(place - 1, 0, added) : [...rows, { ...added, sequence: null }]
    }
    case 'reorder': {
      const other = rows[place]
      if (other === undefined) throw new Error(`There is no row ${place + 1}.`)
      const swapped = [
        { ...other, sequence: row.sequence },
        { ...row, sequence: other.sequence },
      ]
      return rows.toSpliced(place - 1, 2, ...swapped)
    }
    case 'cut':
      return rows.slice(0, place - 1)
  }
}

/** The rows as a chain without a fault, as whoever may write everything would leave them. */
function chained(rows: readonly AuditTable[]): AuditTable[] {
  let previous_hash = chainStart
  return rows.map((row, index) => {
    const link = { sequence: index + 1, previous_hash }
    const hash = hashAuditRow(row, link)
    previous_hash = hash
    return { ...row, ...link, hash }
  })
}

async function replaceRows(db: Database, rows: readonly AuditTable[]): Promise<void> {
  await db.deleteFrom('audit').where('organization_id', '=', organizationId).execute()
  if (rows.length > 0) await db.insertInto('audit').values(rows).execute()
}

/** Makes the end of the chain, the tiles and the checkpoints those of the new rows. */
async function coverTracks(db: Database, signing: Signing): Promise<void> {
  const last = await db
    .selectFrom('audit')
    .select(['sequence', 'hash'])
    .where('organization_id', '=', organizationId)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  await db
    .updateTable('audit_chains')
    .set({ sequence: last?.sequence ?? 0, hash: last?.hash ?? chainStart })
    .where('organization_id', '=', organizationId)
    .execute()
  await db.deleteFrom('audit_tiles').execute()
  await db.deleteFrom('audit_checkpoints').execute()
  await db.updateTable('audit_logs').set({ size: 0 }).execute()
  await signCheckpoint({ db, clock: systemClock }, signing, organizationId)
}

const expected: Readonly<Record<Tamper['kind'], readonly AuditFault['kind'][]>> = {
  edit: ['edited'],
  delete: ['missing'],
  insert: ['inserted'],
  reorder: ['edited'],
  cut: ['shortened'],
}

/** Whoever has everything leaves a chain without a fault: the kept root alone tells, and of all rows it was made of. */
function names({ kind, sequence }: AuditFault, { place, ...tamper }: Tamper): boolean {
  if (tamper.isWhole && tamper.kind !== 'cut') return kind === 'rewritten' && (sequence ?? Infinity) <= place
  if (tamper.kind === 'insert') return kind === 'inserted' && sequence === null
  return expected[tamper.kind].includes(kind) && sequence === place
}
