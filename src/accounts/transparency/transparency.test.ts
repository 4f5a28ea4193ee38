import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, test } from 'node:test'
import { createRandom } from '../../../test/campaigns/random.ts'
import { addAuditRows } from '../../../test/harness/databases/audit-rows.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { chainStart, hashAuditRow } from '../../db/audit-chain.ts'
import { change } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { GrowingTree, isConsistent, rootOf } from '../../lib/merkle-tree.ts'
import { formatVerifier, parseNote, parseVerifier } from '../../lib/signed-note.ts'
import { auditLeaf } from '../audit/chain-walk.ts'
import { readAudit, readAuditRows } from '../audit/read-audit.ts'
import { verifyAudit } from '../audit/verify-audit.ts'
import { findProofFault, proveAuditConsistency, proveAuditRow } from './audit-proof.ts'
import { checkpointFileIn, parseCheckpoints, verifiersOf } from './checkpoint-file.ts'
import { readSignedRoots } from './known-roots.ts'
import { acceptRestore, readLastCheckpoint, signCheckpoint, signCheckpoints, type Signing } from './sign-checkpoints.ts'
import { listAuditKeys, openSigningKeys, rotateSigningKey, signingKeyPathIn } from './signing-keys.ts'
import { growTree, subtreesOf } from './tiles.ts'
import { verifyExport } from './verify-export.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-transparency-'))
after(() => rmSync(folder, { recursive: true }))

const operator = { kind: 'operator' } as const
const organizationId: OrganizationId = 'org_tested'
const origin = `log.example/audit/${organizationId}`
const rowColumns =
  'action,actor,address,after,at,before,id,organization_id,previous_hash,request_id,sequence,target'.split(',')

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let home: string
  let signing: Signing

  const add = (count: number, id = organizationId) => addAuditRows({ db, clock }, id, count)
  const openSigning = async (): Promise<Signing> => ({
    keys: await openSigningKeys({ home, signer: null }, { db, clock }),
    name: 'log.example',
    file: checkpointFileIn(home),
  })
  const faultsNow = async () => {
    const { roots, forged } = await readSignedRoots(db, organizationId, signing.file)
    const { faults } = await verifyAudit(db, organizationId, [], roots)
    return [...forged.map((size) => `forged ${size}`), ...faults.map(({ kind, sequence }) => `${kind} ${sequence}`)]
  }

  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    home = mkdtempSync(join(folder, 'home-'))
    signing = await openSigning()
  })
  afterEach(() => db.destroy())

  test('tiles give the root of the rows, whatever steps they grew in', async () => {
    await db
      .insertInto('audit_chains')
      .values({ organization_id: organizationId, sequence: 0, hash: chainStart })
      .execute()
    const tree = new GrowingTree()
    const random = createRandom(7)
    // Past a second level of tiles, whose first hash stands for 256 rows.
    for (let size = 0; size < 700;) {
      const step = random.integer(1, 200)
      const rows = Array.from({ length: step }, (_, index) => ({
        id: `audit_${size + index}`,
        at: 0,
        organization_id: organizationId,
        actor: 'operator',
        action: 'a',
        target: 't',
        before: null,
        after: null,
        address: null,
        request_id: null,
        sequence: size + index + 1,
        previous_hash: '',
        hash: random
          .integer(0, 2 ** 32)
          .toString(16)
          .padStart(64, '0'),
      }))
      await db.insertInto('audit').values(rows).execute()
      for (const { hash } of rows) tree.add(auditLeaf(hash))
      size += step
      equal(await growTree(db, organizationId), size)
      deepEqual(await rootOf(size, subtreesOf(db, organizationId)), tree.root())
    }
  })

  test('a checkpoint is signed once for what was added, and kept outside the database too', async () => {
    await add(3)
    deepEqual(await signCheckpoints({ db, clock }, signing), [])
    deepEqual(await signCheckpoints({ db, clock }, signing), [])
    const last = await readLastCheckpoint(db, organizationId)
    deepEqual([last?.origin, last?.size], [origin, 3])
    const verifiers = verifiersOf(
      origin,
      signing.keys.map(({ publicKey }) => publicKey),
    )
    deepEqual(
      parseCheckpoints(readFileSync(signing.file, 'utf8'), verifiers).map(({ size }) => size),
      [3],
    )
    await add(2)
    await signCheckpoints({ db, clock }, signing)
    deepEqual(
      parseCheckpoints(readFileSync(signing.file, 'utf8'), verifiers).map(({ size }) => size),
      [3, 5],
    )
    deepEqual(await faultsNow(), [])
  })

  test('two processes that sign at once sign one checkpoint of each size', async () => {
    await add(4)
    await Promise.all(Array.from({ length: 5 }, () => signCheckpoint({ db, clock }, signing, organizationId)))
    equal((await db.selectFrom('audit_checkpoints').selectAll().execute()).length, 1)
  })

  test('a chain that is written anew as a whole, with all its hashes and its end, is found by what was signed', async () => {
    await add(300)
    await signCheckpoint({ db, clock }, signing, organizationId)
    await add(20)
    await signCheckpoint({ db, clock }, signing, organizationId)
    await rewriteFrom(db, 305)
    deepEqual(await faultsNow(), ['rewritten 301', 'rewritten 305'])
    // Who writes the tiles anew as well is found by the roots alone, down to the checkpoint before.
    await db.deleteFrom('audit_tiles').execute()
    await db.updateTable('audit_logs').set({ size: 0 }).execute()
    await growTree(db, organizationId)
    deepEqual(await faultsNow(), ['rewritten 301'])
    await db.deleteFrom('audit_checkpoints').execute()
    deepEqual(await faultsNow(), ['rewritten 301'], 'the file beside the database still has the notes')
    match((await signCheckpoint({ db, clock }, signing, organizationId)) ?? '', /not those that were signed for/)
  })

  test('a checkpoint that another key has signed, or of another size, is told', async () => {
    await add(3)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const { note } = await db.selectFrom('audit_checkpoints').select('note').executeTakeFirstOrThrow()
    const values = { organization_id: organizationId, at: 0 }
    await db
      .insertInto('audit_checkpoints')
      .values({ ...values, size: 2, note })
      .execute()
    await db
      .insertInto('audit_checkpoints')
      .values({ ...values, size: 1, note: note.replace('\n3\n', '\n1\n') })
      .execute()
    deepEqual(await faultsNow(), ['forged 1', 'forged 2'])
  })

  test('rows that were cut off with the end of the chain are missed', async () => {
    await add(10)
    await signCheckpoint({ db, clock }, signing, organizationId)
    await db.deleteFrom('audit').where('sequence', '>', 8).execute()
    const last = await db.selectFrom('audit').select('hash').where('sequence', '=', 8).executeTakeFirstOrThrow()
    await db
      .updateTable('audit_chains')
      .set({ sequence: 8, hash: last.hash ?? '' })
      .execute()
    deepEqual(await faultsNow(), ['shortened 9'])
  })

  test('an older database is not signed for until somebody accepts it, which the audit tells', async () => {
    await add(5)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const older = await readRows(db)
    await add(5)
    await signCheckpoint({ db, clock }, signing, organizationId)
    await restoreRows(db, older)
    await add(1)
    match(
      (await signCheckpoint({ db, clock }, signing, organizationId)) ?? '',
      /10 rows were signed for, and there are 6/,
    )
    await acceptRestore({ db, clock }, operator, { signing, organizationId })
    equal(await signCheckpoint({ db, clock }, signing, organizationId), null)
    deepEqual(await faultsNow(), [])
    const rows = await readAudit({ db }, operator, { organizationId, afterSequence: 6, limit: 10 })
    deepEqual(
      rows.map(({ action, before }) => [action, (before as { size: number }).size]),
      [['audit:accept-restore', 10]],
    )
  })

  test('a row of any place is proven with its note alone, and no other row passes for it', async () => {
    await add(270)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const verifier = { name: origin, publicKey: (signing.keys[0] ?? missing()).publicKey }
    const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: 300 })
    for (const { id } of [rows[0], rows[100], rows[255], rows[256], rows[269]].map((row) => row ?? missing())) {
      const proof = await proveAuditRow(db, operator, { organizationId, rowId: id })
      equal(findProofFault(proof, verifier), null)
      match(findProofFault({ ...proof, row: { ...proof.row, actor: 'another' } }, verifier) ?? '', /is not row/)
      match(findProofFault({ ...proof, row: { ...proof.row, sequence: 7 } }, verifier) ?? '', /is not row 7/)
      match(findProofFault({ ...proof, inclusion: proof.inclusion.slice(1) }, verifier) ?? '', /is not row/)
      match(findProofFault(proof, { ...verifier, name: 'log.example/audit/org_other' }) ?? '', /not signed by/)
    }
    await add(1)
    const [newest] = await readAuditRows(db, { organizationId, afterSequence: 270, limit: 1 })
    await rejects(proveAuditRow(db, operator, { organizationId, rowId: newest?.id ?? '' }), /not signed for yet/)
    await rejects(
      proveAuditRow(db, operator, { organizationId: 'org_other', rowId: rows[0]?.id ?? '' }),
      /There is no such thing/,
    )
  })

  test('a proof tells nothing of another row, in whatever way it might be written', async () => {
    const names = ['actor', 'action', 'target', 'before', 'after', 'address', 'request_id'] as const
    const secretsOf = (row: number) =>
      names.map((name) => `${name}${createHash('sha256').update(`${row} ${name}`).digest('hex')}`)
    const count = 40
    for (let row = 0; row < count; row += 1) {
      const [, action = '', target = '', was = '', is = '', address = '', requestId = ''] = secretsOf(row)
      const parts = { db, clock, origin: { address, requestId: `req_${requestId}` as const } }
      const principal = { kind: 'user', userId: `user_${secretsOf(row)[0]}` } as unknown as Principal
      await change(parts, principal, { action, organizationId, target, needsNoRight: true }, (_, note) =>
        Promise.resolve(note({ was }, { is })),
      )
    }
    equal(await signCheckpoint({ db, clock }, signing, organizationId), null)
    const rows = await readAuditRows(db, { organizationId, afterSequence: 0, limit: count })
    const readings = (text: string) => [
      text,
      Buffer.from(text).toString('base64').slice(0, -4),
      Buffer.from(text).toString('hex'),
    ]
    for (const { id, sequence } of rows) {
      const proof = await proveAuditRow(db, operator, { organizationId, rowId: id })
      const text = JSON.stringify(proof)
      ok(
        secretsOf((sequence ?? 0) - 1).every((secret) => text.includes(secret)),
        'The row itself is in it.',
      )
      for (const other of rows.filter((row) => row.id !== id)) {
        const told = [other.id, ...secretsOf((other.sequence ?? 0) - 1)].flatMap(readings)
        equal(
          told.find((one) => text.includes(one)),
          undefined,
          `The proof of row ${sequence} tells of ${other.sequence}.`,
        )
      }
      // Whatever else is in it are hashes of 32 bytes: the one that the row follows, and the way up to the root.
      deepEqual(Object.keys(proof), ['format', 'row', 'inclusion', 'checkpoint'])
      deepEqual(Object.keys(proof.row).toSorted(), rowColumns)
      ok(proof.inclusion.every((hash) => Buffer.from(hash, 'base64').length === 32) && proof.inclusion.length <= 6)
    }
  })

  test('a later checkpoint is proven to begin with an earlier one', async () => {
    await add(3)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const before = (await readLastCheckpoint(db, organizationId)) ?? missing()
    await add(6)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const now = (await readLastCheckpoint(db, organizationId)) ?? missing()
    const { proof } = await proveAuditConsistency(db, operator, { organizationId, from: 3, to: 9 })
    const hashes = proof.map((hash) => Buffer.from(hash, 'base64'))
    ok(isConsistent({ oldSize: 3, oldRoot: before.root, size: 9, root: now.root, proof: hashes }))
  })

  test('an export is verified without a database, and what was changed in it is found', async () => {
    await add(30)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const entries = await readAudit({ db }, operator, { organizationId, afterSequence: 0, limit: 100 })
    const lines = entries.map((entry) => JSON.stringify(entry))
    const { root } = (await readLastCheckpoint(db, organizationId)) ?? missing()
    const known = new Map([[organizationId, [{ size: 30, root, from: 'signed' }]]])
    const faultsOf = async (changed: readonly string[]) => {
      const [verdict] = await verifyExport(toLines(changed), known)
      return verdict?.faults.map(({ kind, sequence }) => `${kind} ${sequence}`)
    }
    deepEqual(await faultsOf(lines), [])
    deepEqual(await faultsOf(lines.with(4, lines[4]?.replace('thing 4', 'thing 5') ?? '')), ['edited 5'])
    deepEqual(await faultsOf(lines.toSpliced(4, 1)), ['edited 6', 'missing 5', 'rewritten 1'])
    deepEqual(await faultsOf(lines.slice(0, 29)), ['shortened 30'])
    deepEqual(await faultsOf([]), ['shortened 1'])
    await rejects(verifyExport(toLines(['{}']), known), /Line 1 is no row/)
  })

  test('a gateway without the key signs nothing, and one with another key does not start to', async () => {
    equal(statSync(signingKeyPathIn(home)).mode & 0o777, 0o600)
    const elsewhere = mkdtempSync(join(folder, 'home-'))
    deepEqual(await openSigningKeys({ home: elsewhere, signer: null }, { db, clock }), [])
    copyFileSync(signingKeyPathIn(home), signingKeyPathIn(elsewhere))
    equal((await openSigningKeys({ home: elsewhere, signer: null }, { db, clock })).length, 1)
    const foreign = mkdtempSync(join(folder, 'home-'))
    const other = await database.open()
    await openSigningKeys({ home: foreign, signer: null }, { db: other, clock })
    await other.destroy()
    await rejects(openSigningKeys({ home: foreign, signer: null }, { db, clock }), /is not the key that signs/)
    writeFileSync(signingKeyPathIn(foreign), 'no key')
    await rejects(
      openSigningKeys({ home: foreign, signer: null }, { db, clock }),
      /is no Ed25519 key\. Put it back from where you keep it: no backup of the database holds it/,
    )
  })

  test('after a rotation both keys sign for thirty days, and what the old one signed stays good', async () => {
    await add(2)
    await signCheckpoint({ db, clock }, signing, organizationId)
    await rotateSigningKey({ home, signer: null }, { db, clock }, operator)
    equal((await listAuditKeys(db)).length, 2)
    signing = await openSigning()
    await add(1)
    await signCheckpoint({ db, clock }, signing, organizationId)
    const { note } = (await readLastCheckpoint(db, organizationId)) ?? missing()
    equal(parseNote(note)?.signatures.length, 2)
    deepEqual(await faultsNow(), [])
    clock.advance(31 * 86_400_000)
    equal((await openSigning()).keys.length, 1)
  })

  test('the text of a verifier names the log and the key', () => {
    const verifier = { name: origin, publicKey: (signing.keys[0] ?? missing()).publicKey }
    deepEqual(parseVerifier(formatVerifier(verifier)), verifier)
  })
})

async function* toLines(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

function missing(): never {
  throw new Error('It is not there.')
}

/** As somebody would who may write everything: every hash from there on, and the end of the chain. */
async function rewriteFrom(db: Database, from: number): Promise<void> {
  let previous = from === 1 ? chainStart : ''
  for (const row of await readAuditRows(db, { organizationId, afterSequence: from - 2, limit: 1_000 })) {
    const { sequence, hash, previous_hash: _, ...content } = row
    if (sequence === null || sequence < from) {
      previous = hash ?? ''
      continue
    }
    const changed = { ...content, actor: 'somebody else' }
    const link = { sequence, previous_hash: previous }
    previous = hashAuditRow(changed, link)
    await db
      .updateTable('audit')
      .set({ actor: changed.actor, previous_hash: link.previous_hash, hash: previous })
      .where('id', '=', row.id)
      .execute()
  }
  await db.updateTable('audit_chains').set({ hash: previous }).execute()
}

const restored = ['audit', 'audit_chains', 'audit_logs', 'audit_tiles', 'audit_checkpoints'] as const

async function readRows(db: Database) {
  const rows = restored.map(async (table) => [table, await db.selectFrom(table).selectAll().execute()] as const)
  return Promise.all(rows)
}

async function restoreRows(db: Database, tables: Awaited<ReturnType<typeof readRows>>): Promise<void> {
  for (const [table, rows] of tables) {
    await db.deleteFrom(table).execute()
    await db
      .insertInto(table)
      .values(rows as never)
      .execute()
  }
}
