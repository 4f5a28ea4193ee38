import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { KyselyPlugin, RootOperationNode } from 'kysely'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { createDeliveries } from '../../billing/deliveries/deliveries.ts'
import type { LedgerFilter } from '../../billing/ledger/ledger-filter.ts'
import { listLedger } from '../../billing/ledger/list-ledger.ts'
import { createLog } from '../../telemetry/log.ts'
import type { Database } from '../database.ts'
import { openMemoryDatabase } from '../../../test/harness/databases/memory-database.ts'

const page = { organizationId: 'org_1', limit: 101, after: null } as const

/** How SQLite carries out the selections from the ledger that some work makes. */
async function planOf(work: (db: Database) => Promise<unknown>): Promise<string> {
  const db = await openMemoryDatabase()
  const nodes: { node: RootOperationNode; queryId: Parameters<KyselyPlugin['transformQuery']>[0]['queryId'] }[] = []
  const watch: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      if (node.kind === 'SelectQueryNode') nodes.push({ node, queryId })
      return node
    },
    transformResult: ({ result }) => Promise.resolve(result),
  }
  await db.insertInto('ledger').values(ledgerRow(1)).execute()
  await work(db.withPlugin(watch))
  const steps: string[] = []
  for (const { node, queryId } of nodes) {
    const query = db.getExecutor().compileQuery(node, queryId)
    if (!query.sql.includes('"ledger"')) continue
    const explained = { ...query, sql: `explain query plan ${query.sql}` }
    const { rows } = await db.executeQuery<{ detail: string }>(explained)
    steps.push(...rows.map(({ detail }) => detail))
  }
  await db.destroy()
  return steps.join('\n')
}

const lists: readonly (readonly [string, LedgerFilter, string])[] = [
  ['not narrowed', page, 'ledger_by_organization'],
  ['of a key', { ...page, apiKeyId: 'key_1' }, 'ledger_by_key'],
  ['of a project', { ...page, projectIds: ['proj_1'] }, 'ledger_by_project'],
  ['of several projects', { ...page, projectIds: ['proj_1', 'proj_2'] }, 'ledger_by_project'],
  ['of a model', { ...page, model: 'hal-1.0' }, 'ledger_by_model'],
  ['of failed requests', { ...page, outcome: 'failed' }, 'ledger_by_outcome'],
  ['of a key’s failed requests', { ...page, apiKeyId: 'key_1', outcome: 'failed' }, 'ledger_by_(key|outcome)'],
]

for (const [name, filter, index] of lists) {
  test(`a page of the ledger ${name} reads no rows that do not match, and sorts none`, async () => {
    const plan = await planOf((db) => listLedger(db, { kind: 'operator' }, { ...page, ...filter, fromMs: 5 }))
    match(plan, new RegExp(`SEARCH ledger USING INDEX ${index} `))
    equal(plan.includes('SCAN ledger'), false, plan)
    equal(plan.includes('TEMP B-TREE'), false, plan)
  })
}

const searches: readonly (readonly [string, LedgerFilter, string])[] = [
  ['not narrowed', page, 'ledger_by_organization'],
  ['of a key', { ...page, apiKeyId: 'key_1' }, 'ledger_by_key'],
  ['of a key in a project', { ...page, apiKeyId: 'key_1', projectIds: ['proj_1'] }, 'ledger_by_key'],
  ['of several projects', { ...page, projectIds: ['proj_1', 'proj_2'] }, 'ledger_by_project'],
  ['of a model', { ...page, model: 'hal-1.0' }, 'ledger_by_model'],
  ['of a model’s failed requests', { ...page, model: 'hal-1.0', outcome: 'failed' }, 'ledger_by_outcome'],
]

for (const [name, filter, index] of searches) {
  test(`a search of the ledger ${name} reads no more than its piece of one index`, async () => {
    const search = { ...page, ...filter, reason: 'none', ownerId: 'mem_1', fromMs: 5, toMs: 2e12 } as const
    // A piece of one row ends at the ledger's only one, and the next has nothing left.
    const plan = await planOf((db) => listLedger(db, { kind: 'operator' }, search, { rowsPerPiece: 1, piecesMax: 2 }))
    const reads = plan.split('\n').filter((step) => / ledger\b/.test(step))
    const bounded = new RegExp(`^SEARCH ledger USING (?:COVERING )?INDEX ${index} \\(.*at>\\? AND .*at<\\?\\)`)
    for (const step of reads) match(step.replaceAll(/\(at,sequence\)/g, 'at'), bounded)
    equal(plan.includes('TEMP B-TREE'), false, plan)
  })
}

test('a request is found in the ledger by its whole id alone', async () => {
  const requestIdStart = `req_${'a1B2'.repeat(6)}`
  const plan = await planOf((db) => listLedger(db, { kind: 'operator' }, { ...page, requestIdStart, fromMs: 5 }))
  match(plan, /SEARCH ledger USING INDEX sqlite_autoindex_ledger_1 \(request_id=\?\)/)
})

test('the charges for a repeated body are found by the body alone', async () => {
  const principal = { kind: 'api-key', apiKeyId: 'key_1', organizationId: 'org_1', projectId: 'proj_1' } as const
  const plan = await planOf(async (db) => {
    const clock = createManualClock()
    const options = { db, clock, log: createLog('silent'), hashKey: new Uint8Array(32) }
    const deliveries = createDeliveries({ ...options, reversalsPerKeyDayMax: 10 })
    await deliveries.begin('req_2', { principal, bodyHash: 'body' })(true)
    await deliveries.close()
  })
  match(plan, /SEARCH ledger USING INDEX ledger_by_body /)
})
