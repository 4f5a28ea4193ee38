// A data folder that earlier versions of the product have written is started with this one. The earlier versions come
// from the repository's own history, with the packages of today.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, suite, test } from 'node:test'
import { extractVersion, isOutOfReach } from '../harness/earlier-version.ts'
import { runCli, type CliTarget } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { productProgram } from '../harness/as-launched.ts'

const versions = [
  { about: 'before the dashboard, with ten migrations', commit: '5748a32' },
  { about: 'before containers, with 27 migrations', commit: '946b701' },
]

for (const { about, commit } of versions) {
  const skip = isOutOfReach(commit)
  suite(`a data folder of the version ${about}`, { skip, timeout: 600_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-upgrade-'))
    after(() => rmSync(folder, { recursive: true, force: true }))

    test('is brought up to date by a start, with every row, key, limit and sum that was in it', async () => {
      const program = extractVersion(commit, folder)
      const old = await startService({ program })
      // One that is left running would keep the test's process waiting for ever.
      const keys = await fill(old, program).catch(async (error: unknown) => {
        await old.stop('SIGKILL')
        throw error
      })
      equal(await old.stop(), 0)
      const before = readTables(old.home)
      ok(before.get('ledger')!.length >= 8, 'the ledger has rows')

      const service = await old.restart(productProgram)
      try {
        checkNothingLost(before, readTables(service.home))
        await checkKeys(service, keys)
        await checkSettings(service)
        await runCli(service, 'audit', 'verify')
        await runCli(service, 'bill', 'verify')
      } finally {
        await service.stop()
      }
    })
  })
}

type Keys = { readonly first: string; readonly limited: string; readonly revoked: string }

/** Makes something of each kind with the earlier version, and asks it in both formats. */
async function fill({ home, address, key }: Service, program: string): Promise<Keys> {
  const target: CliTarget = { home, program }
  const create = async (...words: string[]) =>
    JSON.parse(await runCli(target, ...words, '--json')) as { id: string; key: string }
  const project = await create('projects', 'create', '--name', 'Tools')
  const limited = await create('keys', 'create', '--name', 'limited', '--project', project.id, '--models', 'tycho-1.0')
  const revoked = await create('keys', 'create', '--name', 'revoked')
  await runCli(target, 'keys', 'revoke', revoked.id)
  await runCli(target, 'members', 'create', '--email', 'ann@acme.example', '--role', 'developer')
  await runCli(target, 'limits', 'set', '--key', limited.id, '--requests', '500')
  await runCli(target, 'budgets', 'set', '--period', 'month', '--amount', '50.00')
  const rates = [
    '--input',
    '1',
    '--cache-read',
    '0.1',
    '--cache-write',
    '1',
    '--cache-write-long',
    '2',
    '--output',
    '4',
  ]
  await runCli(target, 'prices', 'set', 'tycho-1.0', ...rates)
  for (let turn = 0; turn < 4; turn += 1)
    for (const path of paths) equal(await ask(address, path, turn % 2 === 0 ? key : limited.key), 200)
  return { first: key, limited: limited.key, revoked: revoked.key }
}

const paths = ['/v1/chat/completions', '/v1/messages'] as const

async function ask(address: string, path: string, key: string, model = 'tycho-1.0'): Promise<number> {
  const body = JSON.stringify({ model, max_tokens: 8, messages: [{ role: 'user', content: 'Say something.' }] })
  const response = await fetch(`${address}${path}`, { method: 'POST', headers: { 'x-api-key': key }, body })
  await response.arrayBuffer()
  return response.status
}

type Row = Readonly<Record<string, unknown>>

/** Every table but the migrator's own and those of SQLite. */
function readTables(home: string): Map<string, Row[]> {
  const db = new DatabaseSync(join(home, 'odyssey.db'), { readOnly: true })
  try {
    const names = db
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
      .all()
      .map(({ name }) => String(name))
      .filter((name) => !name.startsWith('kysely_'))
    return new Map(names.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all() as Row[]]))
  } finally {
    db.close()
  }
}

/**
 * What a service changes by itself, whatever version it is: where work on the ledger and the audit has come to, sums that
 * grow, and the counters of changes, which have a table less each in later versions. The commands that verify the audit
 * and the ledger are run over them.
 */
const moving = new Set([
  'access_changes',
  'limit_changes',
  'changes',
  'audit_chains',
  'audit_logs',
  'audit_tiles',
  'ledger_progress',
  'usage_hours',
  'usage_days',
])
/** When a key was last used, and the one share at which a budget alerted, of which there are several in later versions. */
const movingColumns = new Set(['api_keys.last_used_at', 'budgets.alert_percent'])

/** Each row is there still, with what it said; columns may have come. */
function checkNothingLost(before: ReadonlyMap<string, Row[]>, later: ReadonlyMap<string, Row[]>): void {
  for (const [table, rows] of before) {
    if (moving.has(table)) continue
    const kept = later.get(table)
    ok(kept !== undefined, `the table ${table} is gone`)
    for (const row of rows) {
      const said = Object.entries(row).filter(([column]) => !movingColumns.has(`${table}.${column}`))
      const isThere = kept.some((other) => said.every(([column, value]) => other[column] === value))
      ok(isThere, `${table} has lost ${JSON.stringify(row)}`)
    }
  }
}

async function checkKeys({ address }: Service, { first, limited, revoked }: Keys): Promise<void> {
  for (const path of paths) {
    deepEqual([await ask(address, path, first), await ask(address, path, limited)], [200, 200])
    equal(await ask(address, path, revoked), 401)
    equal(await ask(address, path, limited, 'hal-1.0'), 403)
  }
}

async function checkSettings(service: Service): Promise<void> {
  const limits = await runCli(service, 'limits', 'list', '--json')
  ok(limits.includes('500'), limits)
  const budgets = await runCli(service, 'budgets', 'list', '--json')
  ok(/50/.test(budgets), budgets)
  ok((await runCli(service, 'members', 'list', '--json')).includes('ann@acme.example'))
  ok((await runCli(service, 'projects', 'list', '--json')).includes('Tools'))
}
