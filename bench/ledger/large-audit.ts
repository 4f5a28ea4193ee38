// node bin/odyssey.cjs --run bench/ledger/large-audit.ts [--rows N] [--database postgresql://…]
//
// What an audit costs: a change with its audit row beside the same write without one, in an empty audit and in one of N rows;
// tiles of N rows, their verification in a process of its own, with what memory that takes, and proofs of single rows.
// SQLite in a temporary folder, unless an empty PostgreSQL database is given.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { verifyAudit } from '../../src/accounts/audit/verify-audit.ts'
import { findProofFault, proveAuditRow } from '../../src/accounts/transparency/audit-proof.ts'
import { checkpointFileIn } from '../../src/accounts/transparency/checkpoint-file.ts'
import { readSignedRoots } from '../../src/accounts/transparency/known-roots.ts'
import { readLastCheckpoint, signCheckpoint } from '../../src/accounts/transparency/sign-checkpoints.ts'
import { openSigningKeys } from '../../src/accounts/transparency/signing-keys.ts'
import { growTree } from '../../src/accounts/transparency/tiles.ts'
import type { OrganizationId } from '../../src/core/ids.ts'
import { change } from '../../src/db/change.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { openDatabase } from '../../src/db/open-database.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { addAuditRows } from '../../test/harness/databases/audit-rows.ts'
import { wholeNumber } from '../whole-number.ts'

const organizationId: OrganizationId = 'org_1'
const operator = { kind: 'operator' } as const
const changes = 2_000
const proofs = 1_000

const type = 'string'
const { values } = parseArgs({ options: { rows: { type }, database: { type }, verify: { type } } })
const rows = wholeNumber('rows', values.rows, 1_000_000)
const home = values.verify ?? mkdtempSync(join(tmpdir(), 'odyssey-audit-'))
const db = await openDatabase({ home, databaseUrl: values.database ?? null })
const parts = { db, clock: systemClock }
try {
  if (values.verify === undefined) await measure()
  else await verify()
} finally {
  await db.destroy()
  if (values.verify === undefined) rmSync(home, { recursive: true })
}

async function measure(): Promise<void> {
  await db.insertInto('organizations').values({ id: organizationId, name: '0', created_at: 0 }).execute()
  await measureChanges('an empty audit')
  console.log(`${rows} rows written in ${(await secondsOf(fill)).toFixed(1)} s`)
  if (isPostgres(db)) await sql`vacuum analyze audit`.execute(db)
  console.log(`tiles built in ${(await secondsOf(() => growTree(db, organizationId))).toFixed(1)} s (goal 60)`)
  const keys = await openSigningKeys({ home, signer: null }, parts)
  const signing = { keys, name: 'bench.example', file: checkpointFileIn(home) }
  const refusal = await signCheckpoint(parts, signing, organizationId)
  if (refusal !== null) throw new Error(refusal)
  await measureChanges(`an audit of ${rows} rows`)
  await signCheckpoint(parts, signing, organizationId)
  verifyElsewhere()
  await measureProofs(keys[0]?.publicKey ?? Buffer.of())
}

/** In turn, so that both meet the same machine. */
async function measureChanges(where: string): Promise<void> {
  const plain: number[] = []
  const audited: number[] = []
  const write = (name: string) => (transaction: Pick<typeof db, 'updateTable'>) =>
    transaction.updateTable('organizations').set({ name }).where('id', '=', organizationId).execute()
  const action = { action: 'organizations:update', organizationId, target: organizationId }
  for (let made = 0; made < changes; made += 1) {
    plain.push(await msOf(() => db.transaction().execute(write(`plain ${made}`))))
    audited.push(
      await msOf(() =>
        change(parts, operator, action, async (transaction, note) => {
          await write(`audited ${made}`)(transaction)
          note({ name: 'before' }, { name: `audited ${made}` })
        }),
      ),
    )
  }
  console.log(`a change in ${where}: without its row ${describe(plain)}, with it ${describe(audited)}`)
}

/** Rows as `change` writes them, up to as many as are asked for. */
async function fill(): Promise<void> {
  const { sequence } = await db.selectFrom('audit_chains').select('sequence').executeTakeFirstOrThrow()
  await addAuditRows(parts, organizationId, rows - sequence, (number) => ({
    action: 'keys:update',
    target: `key_${number}`,
    before: JSON.stringify({ name: `Key ${number}`, disabled: false }),
    after: JSON.stringify({ name: `Key ${number}`, disabled: true }),
    address: '192.0.2.7',
    request_id: `req_${number}`,
  }))
}

/** A process of its own shows what memory it takes. */
function verifyElsewhere(): void {
  const database = values.database === undefined ? [] : ['--database', values.database]
  const args = [...process.execArgv, import.meta.filename, '--verify', home, ...database]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  console.log(stdout.trimEnd())
}

async function verify(): Promise<void> {
  const { roots, forged } = await readSignedRoots(db, organizationId, checkpointFileIn(home))
  const startedMs = performance.now()
  const used = process.cpuUsage()
  const verdict = await verifyAudit(db, organizationId, [], roots)
  const seconds = (performance.now() - startedMs) / 1_000
  const { user, system } = process.cpuUsage(used)
  const processor = ((user + system) / 1e6).toFixed(1)
  if (verdict.faults.length > 0 || forged.length > 0) throw new Error(JSON.stringify(verdict.faults.slice(0, 3)))
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1_000)
  console.log(
    `${verdict.rows} rows verified in ${seconds.toFixed(1)} s (goal 30), ${processor} of them on the processor, at most ${megabytes} MB (goal 300)`,
  )
}

async function measureProofs(publicKey: Uint8Array): Promise<void> {
  const last = await readLastCheckpoint(db, organizationId)
  if (last === null) throw new Error('There is no checkpoint.')
  const made: number[] = []
  const checked: number[] = []
  let bytes = 0
  for (let count = 0; count < proofs; count += 1) {
    const { id: rowId } = await db
      .selectFrom('audit')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('sequence', '=', 1 + ((count * 104_729) % last.size))
      .executeTakeFirstOrThrow()
    let text = ''
    made.push(
      await msOf(async () => {
        text = JSON.stringify(await proveAuditRow(db, operator, { organizationId, rowId }))
      }),
    )
    bytes = Math.max(bytes, text.length)
    checked.push(
      await msOf(() => {
        const fault = findProofFault(JSON.parse(text) as Parameters<typeof findProofFault>[0], {
          name: last.origin,
          publicKey,
        })
        if (fault !== null) throw new Error(fault)
      }),
    )
  }
  console.log(`proofs of ${bytes} bytes at most: made ${describe(made)}, checked ${describe(checked)} (goal 50)`)
}

async function msOf(work: () => unknown): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  return (await msOf(work)) / 1_000
}

function describe(times: number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(3)
  return `P50 ${at(0.5)} P99 ${at(0.99)} max ${at(1)} ms`
}
