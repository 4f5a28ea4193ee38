import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { addAuditRows } from '../../../test/harness/databases/audit-rows.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { hashAuditRow } from '../../db/audit-chain.ts'
import { change, installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { isConsistent } from '../../lib/merkle-tree.ts'
import { findProofFault, proveAuditConsistency, proveAuditRow, readLogTile } from '../transparency/audit-proof.ts'
import { checkpointFileIn } from '../transparency/checkpoint-file.ts'
import { readSignedRoots } from '../transparency/known-roots.ts'
import { readLastCheckpoint, signCheckpoint, type Signing } from '../transparency/sign-checkpoints.ts'
import { openSigningKeys } from '../transparency/signing-keys.ts'
import { verifyExport } from '../transparency/verify-export.ts'
import { readAnchorsInForce, writeAnchors, type AnchorFile } from './anchors.ts'
import { deleteOldAuditRows } from './delete-old-rows.ts'
import { readAudit, readAuditRows, readDeletedEntries, readWholeAudit } from './read-audit.ts'
import { recordRestore } from './restores.ts'
import { verifyAudit, verifyAuditPart } from './verify-audit.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-retention-'))
after(() => rmSync(folder, { recursive: true }))

const operator = { kind: 'operator' } as const
const organizationId: OrganizationId = 'org_tested'
const dayMs = 86_400_000

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let signing: Signing
  let anchorFile: AnchorFile

  const add = (count: number, id = organizationId) => addAuditRows({ db, clock }, id, count)
  const sign = async (id = organizationId) => equal(await signCheckpoint({ db, clock }, signing, id), null)
  const expire = () => deleteOldAuditRows({ db, clock }, operator, { daysMax: 30, file: signing.file })
  const faultsNow = async (id = organizationId) => {
    const { roots } = await readSignedRoots(db, id, signing.file)
    const { valid } = await readAnchorsInForce(db, anchorFile)
    const { faults } = await verifyAudit(db, id, valid, roots)
    return faults.map(({ kind, sequence }) => `${kind} ${sequence}`)
  }
  /** 600 old rows that are signed for, three of today, and the row that tells that the old ones were deleted. */
  const fillAndExpire = async () => {
    await add(600)
    await sign()
    await writeAnchors({ db, clock }, anchorFile)
    clock.advance(31 * dayMs)
    await add(3)
    await sign()
    const done = await expire()
    await sign()
    return done
  }
  const keptSequences = async () => {
    const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: 1_000 })
    return rows.map(({ sequence }) => sequence)
  }

  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    const home = mkdtempSync(join(folder, 'home-'))
    const keys = await openSigningKeys({ home, signer: null }, { db, clock })
    signing = { keys, name: 'log.example', file: checkpointFileIn(home) }
    anchorFile = { path: join(home, 'anchors.jsonl'), key: Buffer.alloc(32, 1) }
  })
  afterEach(() => db.destroy())

  test('old rows are deleted, which the audit tells, and what was signed and anchored for them still holds', async () => {
    deepEqual(await fillAndExpire(), [{ organizationId, rows: 600, refusal: null, held: null }])
    deepEqual(await keptSequences(), [601, 602, 603, 604])
    const [told] = await readAudit({ db }, operator, { organizationId, afterSequence: 603, limit: 1 })
    deepEqual(
      [told?.action, told?.after],
      ['audit:expire', { from: 1, through: 600, olderThan: new Date(clock.nowMs() - 30 * dayMs).toISOString() }],
    )
    deepEqual(await faultsNow(), [])
    const { rows, deleted } = await verifyAudit(db, organizationId, [], [])
    deepEqual([rows, deleted], [4, 600])
  })

  test('nothing is deleted twice, and the row that tells of a deletion is no reason for another one', async () => {
    await fillAndExpire()
    clock.advance(29 * dayMs)
    deepEqual(await expire(), [])
    clock.advance(2 * dayMs)
    deepEqual(await expire(), [{ organizationId, rows: 4, refusal: null, held: null }])
    await sign()
    deepEqual(await keptSequences(), [605])
    clock.advance(40 * dayMs)
    deepEqual(await expire(), [])
    await add(1)
    await sign()
    clock.advance(31 * dayMs)
    deepEqual(await expire(), [{ organizationId, rows: 2, refusal: null, held: null }])
    deepEqual(await faultsNow(), [])
  })

  test('rows that no checkpoint speaks of are kept, however old they are', async () => {
    await add(5)
    await sign()
    await add(5)
    clock.advance(31 * dayMs)
    await expire()
    deepEqual(await keptSequences(), [6, 7, 8, 9, 10, 11])
    await db.deleteFrom('audit_checkpoints').execute()
    rmSync(signing.file)
    clock.advance(31 * dayMs)
    deepEqual(await expire(), [])
    deepEqual(await faultsNow(), ['missing 1'])
  })

  test('rows that a sink has yet to be given are kept until it has them', async () => {
    await add(10)
    await sign()
    await addSink(db)
    clock.advance(31 * dayMs)
    const held = (rows: number) => ({ rows, sinks: ['file'] })
    deepEqual(await expire(), [{ organizationId, rows: 0, refusal: null, held: held(10) }])
    await moveSink(db, 7)
    deepEqual(await expire(), [{ organizationId, rows: 7, refusal: null, held: held(3) }])
    deepEqual(await expire(), [{ organizationId, rows: 0, refusal: null, held: held(3) }])
    await db.updateTable('audit_sinks').set({ disabled_at: 1 }).execute()
    await sign()
    deepEqual(await expire(), [{ organizationId, rows: 3, refusal: null, held: null }])
  })

  test('a row that was changed is not deleted, since nobody could find that afterwards', async () => {
    await add(10)
    await sign()
    await db.updateTable('audit').set({ actor: 'somebody else' }).where('sequence', '=', 4).execute()
    clock.advance(31 * dayMs)
    const [done] = await expire()
    equal(done?.rows, 0)
    match(done?.refusal ?? '', /^Row 4 .* is not what was written/)
    equal((await keptSequences()).length, 10)
  })

  test('a deletion that was broken off goes on, and was told before', async () => {
    await fillAndExpire()
    await add(4_500)
    await sign()
    clock.advance(31 * dayMs)
    const deleting = expire()
    let isBroken = false
    // The same is asked for by another process at the same time, of which one is ended.
    await Promise.all([deleting, expire().catch(() => (isBroken = true))])
    ok(!isBroken)
    deepEqual(await faultsNow(), [])
    deepEqual(
      (await readAudit({ db }, operator, { organizationId, afterSequence: 5_104, limit: 10 })).map(({ after }) =>
        Object.entries(after as object).slice(0, 2),
      ),
      [
        [
          ['from', 601],
          ['through', 5_104],
        ],
      ],
    )
    // As a process that is killed after it has told leaves it.
    await sign()
    await change({ db, clock }, operator, expiring(), async (transaction, note) => {
      note(null, { from: 5_105, through: 5_105 })
      await transaction.updateTable('audit_logs').set({ delete_to: 5_105 }).execute()
    })
    deepEqual(await faultsNow(), [])
    deepEqual(await expire(), [{ organizationId, rows: 1, refusal: null, held: null }])
    deepEqual(await keptSequences(), [5_106])
    deepEqual(await faultsNow(), [])
  })

  test('whatever is done to what is left after a deletion is found', async () => {
    const tampers: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['rewritten 1', () => replaceHash(db, 300)],
      ['rewritten 1', () => replaceHash(db, 600)],
      ['missing 513', () => db.deleteFrom('audit_row_hashes').where('number', '=', 2).execute()],
      ['missing 1', () => db.deleteFrom('audit_row_hashes').execute()],
      ['missing 601', () => db.deleteFrom('audit').where('sequence', '=', 601).execute()],
      ['edited 602', () => db.updateTable('audit').set({ actor: 'x' }).where('sequence', '=', 602).execute()],
      ['missing 601', () => forgetMore(db)],
      ['missing 1', () => db.updateTable('audit_logs').set({ deleted_to: 0 }).execute()],
      ['inserted null', () => db.insertInto('audit').values(madeUp(17)).execute()],
      ['missing 1', () => db.deleteFrom('audit').where('sequence', '=', 604).execute()],
      ['missing 1', () => db.updateTable('audit').set({ after: null }).where('sequence', '=', 604).execute()],
    ]
    await fillAndExpire()
    for (const [expected, tamper] of tampers) {
      const before = await snapshot(db)
      await tamper()
      const found = await faultsNow()
      ok(found.includes(expected), `${tamper.toString()}: ${found.join(', ') || 'nothing'}, not ${expected}`)
      await putBack(db, before)
      deepEqual(await faultsNow(), [])
    }
  })

  test('what is left is proven, read as a log and checked in parts, as if nothing had been deleted', async () => {
    await add(600)
    await sign()
    const [old] = await readAuditRows(db, { organizationId, afterSequence: 99, limit: 1 })
    const early = await proveAuditRow(db, operator, { organizationId, rowId: old?.id ?? '' })
    const before = (await readLastCheckpoint(db, organizationId)) ?? missing()
    const tile = { level: 'entries', number: 2, width: 88 } as const
    const entries = await readLogTile(db, operator, { organizationId, tile })
    const whole = await verifyAuditPart(db, organizationId, { anchors: [], after: null, rowsMax: 450 })
    clock.advance(31 * dayMs)
    await add(100)
    await sign()
    await expire()
    await sign()
    const verifier = { name: before.origin, publicKey: signing.keys[0]?.publicKey ?? Buffer.of() }
    equal(findProofFault(early, verifier), null)
    await rejects(proveAuditRow(db, operator, { organizationId, rowId: old?.id ?? '' }), /There is no such thing/)
    const [kept] = await readAuditRows(db, { organizationId, afterSequence: 620, limit: 1 })
    equal(findProofFault(await proveAuditRow(db, operator, { organizationId, rowId: kept?.id ?? '' }), verifier), null)
    const now = (await readLastCheckpoint(db, organizationId)) ?? missing()
    const { proof } = await proveAuditConsistency(db, operator, { organizationId, from: 600, to: now.size })
    const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
    ok(isConsistent({ oldSize: 600, oldRoot: before.root, size: now.size, root: now.root, proof: hashes }))
    deepEqual(await readLogTile(db, operator, { organizationId, tile }), entries)
    deepEqual(
      (await readLogTile(db, operator, { organizationId, tile: { ...tile, width: 188 } })).subarray(0, entries.length),
      entries,
    )
    // A part that ended where rows were deleted since goes on from there.
    let after = whole.through
    equal(after?.sequence, 450)
    for (let part = 0; part < 10; part += 1) {
      const { faults, through, isComplete } = await verifyAuditPart(db, organizationId, {
        anchors: [],
        after,
        rowsMax: 60,
      })
      deepEqual(faults, [])
      after = through
      if (isComplete) break
    }
    equal(after?.sequence, 701)
    const forged = { sequence: 450, hash: hashAuditRow(madeUp(450), { sequence: 450, previous_hash: '' }) }
    const part = await verifyAuditPart(db, organizationId, { anchors: [], after: forged, rowsMax: 10 })
    deepEqual(
      part.faults.map(({ kind }) => kind),
      ['rewritten'],
    )
  })

  test('an export holds the hashes of deleted rows, without which it is not sound', async () => {
    await fillAndExpire()
    const { root, size } = (await readLastCheckpoint(db, organizationId)) ?? missing()
    const lines: string[] = []
    for await (const deleted of readDeletedEntries({ db }, operator, organizationId))
      lines.push(JSON.stringify(deleted))
    for await (const rows of readWholeAudit({ db }, operator, organizationId))
      for (const row of rows) lines.push(JSON.stringify(row))
    equal(lines.length, 3 + 4)
    const faultsOf = async (changed: readonly string[]) => {
      const [verdict] = await verifyExport(
        toLines(changed),
        new Map([[organizationId, [{ size, root, from: 'kept' }]]]),
      )
      return verdict?.faults.map(({ kind, sequence }) => `${kind} ${sequence}`)
    }
    deepEqual(await faultsOf(lines), [])
    ok((await faultsOf(lines.slice(3)))?.includes('missing 1'))
    const [first = ''] = lines
    deepEqual(await faultsOf(lines.with(0, first.replace(/"[\da-f]{64}"/, `"${'0'.repeat(64)}"`))), ['rewritten 1'])
    // Without the row that tells of it a deletion is a row taken away.
    const untold = await faultsOf(lines.slice(0, -1))
    deepEqual(untold, ['shortened 604', 'missing 1'])
    await rejects(faultsOf(lines.toSpliced(1, 1)), /Line 2 has hashes of deleted rows that do not follow/)
    await rejects(faultsOf([...lines, first]), /Line 8 has hashes/)
  })

  test('that a backup was restored is known also after the row that said so is deleted', async () => {
    await add(3, installationChain)
    await sign(installationChain)
    clock.advance(1_000)
    await writeAnchors({ db, clock }, anchorFile)
    clock.advance(1_000)
    await recordRestore({ db, clock }, { file: 'backup.db', key: anchorFile.key })
    await sign(installationChain)
    for (let round = 0; round < 2; round += 1) {
      clock.advance(31 * dayMs)
      await add(1, installationChain)
      await sign(installationChain)
      ok((await expire()).some(({ organizationId: id, rows }) => id === installationChain && rows > 0))
      await sign(installationChain)
    }
    deepEqual((await readAnchorsInForce(db, anchorFile)).valid, [])
    deepEqual(await faultsNow(installationChain), [])
  })
})

function expiring() {
  return { action: 'audit:expire', organizationId, target: organizationId }
}

async function* toLines(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

function missing(): never {
  throw new Error('It is not there.')
}

function madeUp(sequence: number) {
  const nothing = { before: null, after: null, address: null, request_id: null, previous_hash: '', hash: '' } as const
  const row = {
    id: 'audit_made_up',
    at: 0,
    organization_id: organizationId,
    actor: 'x',
    action: 'x',
    target: 'x',
  } as const
  return { ...row, ...nothing, sequence }
}

/** Puts another hash in the place of a deleted row's. */
async function replaceHash(db: Database, sequence: number): Promise<void> {
  const number = Math.floor((sequence - 1) / 256)
  const tile = await db
    .selectFrom('audit_row_hashes')
    .selectAll()
    .where('number', '=', number)
    .executeTakeFirstOrThrow()
  const bytes = Buffer.from(tile.hashes, 'base64')
  bytes.fill(7, ((sequence - 1) % 256) * 32, ((sequence - 1) % 256) * 32 + 32)
  const hashes = bytes.toString('base64')
  await db.updateTable('audit_row_hashes').set({ hashes }).where('number', '=', number).execute()
}

/** Deletes one row more in the same way, without telling of it. */
async function forgetMore(db: Database): Promise<void> {
  const { hash } = await db.selectFrom('audit').select('hash').where('sequence', '=', 601).executeTakeFirstOrThrow()
  const tile = await db.selectFrom('audit_row_hashes').selectAll().where('number', '=', 2).executeTakeFirstOrThrow()
  const hashes = Buffer.concat([Buffer.from(tile.hashes, 'base64'), Buffer.from(hash ?? '', 'hex')]).toString('base64')
  await db.updateTable('audit_row_hashes').set({ hashes }).where('number', '=', 2).execute()
  await db.deleteFrom('audit').where('sequence', '=', 601).execute()
  await db.updateTable('audit_logs').set({ deleted_to: 601 }).execute()
}

async function addSink(db: Database): Promise<void> {
  const nothing = { lease_holder: null, lease_until: 0, next_attempt_at: 0, failures: 0, last_error: null } as const
  await db
    .insertInto('audit_sinks')
    .values({
      ...nothing,
      id: 'sink_1',
      organization_id: installationChain,
      kind: 'file',
      format: 'json',
      name: 'file',
      shown_target: '/dev/null',
      sealed: '',
      is_configured: 1,
      created_at: 0,
      disabled_at: null,
      last_delivered_at: null,
    })
    .execute()
}

async function moveSink(db: Database, sequence: number): Promise<void> {
  const cursor = { sink_id: 'sink_1', organization_id: organizationId, sequence, checkpoint_size: 0 }
  await db.insertInto('audit_sink_cursors').values(cursor).execute()
}

const changed = ['audit', 'audit_chains', 'audit_logs', 'audit_row_hashes', 'audit_tiles'] as const

async function snapshot(db: Database) {
  return Promise.all(changed.map(async (table) => [table, await db.selectFrom(table).selectAll().execute()] as const))
}

async function putBack(db: Database, tables: Awaited<ReturnType<typeof snapshot>>): Promise<void> {
  for (const [table, rows] of tables) {
    await db.deleteFrom(table).execute()
    await db
      .insertInto(table)
      .values(rows as never)
      .execute()
  }
}
