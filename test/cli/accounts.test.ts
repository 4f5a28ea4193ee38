// The commands for organizations, members and keys, one after the other as an operator would give them.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { createPostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'

const root = mkdtempSync(join(tmpdir(), 'odyssey-accounts-'))
after(() => rmSync(root, { recursive: true }))
const newHome = () => mkdtempSync(join(root, 'home-'))
const home = newHome()
before(() => runCli({ home }, 'migrate'))

const run = async (...args: string[]) => JSON.parse(await runCli({ home }, ...args, '--json')) as Record<string, string>
const list = async (...args: string[]) =>
  JSON.parse(await runCli({ home }, ...args, '--json')) as readonly Record<string, unknown>[]

test('an organization with its members, projects and keys', async () => {
  const { organizationId: organization = '', projectId = '' } = await run('organizations', 'create', '--name', 'Acme')
  const inIt = ['--organization', organization]
  const { id: project = '' } = await run('projects', 'create', '--name', 'Tools', ...inIt)
  const { id: member = '' } = await run('members', 'create', '--email', 'Ann@acme.test', '--role', 'developer', ...inIt)
  await run('members', 'show', member, '--project', project, ...inIt)
  const rules = [
    '--expires',
    '30d',
    '--models',
    'hal-1.0,tycho-1.0',
    '--endpoints',
    'messages',
    '--addresses',
    '10.0.0.0/8',
  ]
  const key = await run('keys', 'create', '--name', 'ann', '--project', project, '--owner', member, ...rules, ...inIt)
  match(key['key'] ?? '', /^sk-ody-/)
  const rotated = await run('keys', 'rotate', key['id'] ?? '', '--overlap', '2d', ...inIt)
  await run('keys', 'update', rotated['id'] ?? '', '--models', 'all', '--name', 'ann again', ...inIt)
  await run('keys', 'disable', rotated['id'] ?? '', ...inIt)

  const keys = await list('keys', 'list', ...inIt)
  deepEqual(
    keys.map(({ id, name, state, projectId: of, ownerId }) => [id, name, state, of, ownerId]),
    [
      [key['id'], 'ann', 'active', project, member],
      [rotated['id'], 'ann again', 'disabled', project, member],
    ],
  )
  const expected = { models: null, endpoints: ['messages'], addresses: ['10.0.0.0/8'], priority: null }
  const { expiresAtMs, ...others } = keys[1]!['rules'] as Record<string, unknown>
  deepEqual(others, expected)
  ok(Math.abs(Number(expiresAtMs) - Date.now() - 30 * 86_400_000) < 600_000)
  deepEqual(new Set((await list('projects', 'list', ...inIt)).map(({ id }) => id)), new Set([project, projectId]))
  deepEqual(await list('keys', 'list'), [], 'the default organization has none of them')

  await run('members', 'remove', member, ...inIt)
  for (const { state } of await list('keys', 'list', ...inIt)) equal(state, 'revoked')
  await run('organizations', 'disable', organization)
  const organizations = await list('organizations', 'list')
  equal(organizations.find(({ id }) => id === organization)?.['disabledAtMs'] === null, false)
})

test('what is wrong is said, with an exit code for it', async () => {
  const wrong: readonly (readonly [number, RegExp, ...string[]])[] = [
    [2, /keys takes/, 'keys', 'invent'],
    [2, /--name/, 'keys', 'create'],
    [2, /--expires takes/, 'keys', 'create', '--name', 'x', '--expires', 'soon'],
    [2, /--expires: there is no 2027-02-30\./, 'keys', 'create', '--name', 'x', '--expires', '2027-02-30'],
    [
      2,
      /--expires: there is no 2027-02-29\./,
      'management-keys',
      'create',
      '--name',
      'x',
      '--expires',
      '2027-02-29T12:00Z',
    ],
    [2, /needs --project/, 'keys', 'create', '--name', 'x', '--organization', 'org_other'],
    [2, /begins with key_/, 'keys', 'revoke', 'org_default'],
    [1, /There is no such thing/, 'keys', 'revoke', 'key_none'],
    [1, /no "gpt-4" among the models/, 'keys', 'create', '--name', 'x', '--models', 'gpt-4'],
    [1, /no address and no CIDR block/, 'keys', 'create', '--name', 'x', '--addresses', '10.0.0.0/99'],
    [2, /--role takes owner/, 'members', 'create', '--email', 'a@b', '--role', 'king'],
    [1, /at least one|no such thing/, 'members', 'remove', 'mem_none'],
    [2, /audit takes/, 'audit', 'forget'],
    ...['keys', 'management-keys', 'organizations', 'projects'].map(
      (what) => [1, /^A name has .* direction of writing\.\n$/, what, 'create', '--name', 'a\u202eb'] as const,
    ),
    [1, /^A name has /, 'members', 'create', '--email', 'a@b', '--role', 'auditor', '--name', 'a\u200bb'],
  ]
  for (const [exitCode, message, ...args] of wrong) {
    const end = await tryCli({ home }, ...args)
    equal(end.exitCode, exitCode, `${args.join(' ')}: ${end.stderr}`)
    match(end.stderr, message)
  }
})

test('a command where no Odyssey is says so and makes none, until migrate has made one', async () => {
  const place = { home: newHome() }
  const elsewhere = { home: join(place.home, 'data') }
  const commands = [
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['budgets', 'list', '--json'],
    ['cache', 'explain', 'req_1'],
    ['connect', 'claude-code', '--new-key', 'laptop', '--no-check', '--base-url', 'http://127.0.0.1:1'],
  ]
  for (const args of commands) {
    const { exitCode, stdout, stderr } = await tryCli(elsewhere, ...args)
    const line = `There is no Odyssey in ${elsewhere.home}. Set ODYSSEY_HOME to its data folder, or start it once.\n`
    deepEqual([exitCode, stdout, stderr], [1, '', line], args.join(' '))
  }
  deepEqual(readdirSync(place.home), [])
  await runCli(elsewhere, 'migrate')
  equal(await runCli(elsewhere, 'keys', 'list'), 'keys: none.\n')
})

test('the audit is exported, verified and anchored, and a row that was edited is named', async () => {
  const place = { home: newHome() }
  await runCli(place, 'migrate')
  const key = JSON.parse(await runCli(place, 'keys', 'create', '--name', 'x', '--json')) as Record<string, string>
  const exported = (await runCli(place, 'audit', 'export')).trimEnd().split('\n')
  const entries = exported.map((line) => JSON.parse(line) as Record<string, unknown>)
  deepEqual(
    entries.map(({ sequence, action, actor, target }) => [sequence, action, actor, target]),
    [
      [1, 'organizations:create', 'operator', 'org_default'],
      [2, 'api-keys:create', 'operator', key['id']],
    ],
  )
  ok(!exported.join('').includes((key['key'] ?? '').slice(7, 20)))
  match(await runCli(place, 'audit', 'verify'), /org_default: 2 rows, as they were written/)
  const anchors = join(place.home, 'audit-anchors.jsonl')
  ok(readFileSync(anchors, 'utf8').includes('org_default'))
  equal(statSync(anchors).mode & 0o777, 0o600)
  const db = new DatabaseSync(join(place.home, 'odyssey.db'))
  db.exec("UPDATE audit SET actor = 'mem_somebody' WHERE sequence = 2")
  db.close()
  const end = await tryCli(place, 'audit', 'verify')
  match(end.stdout, /edited: Row 2/, end.stderr)
  equal(end.exitCode, 1)
})

test('a restore of an older backup is in the audit, which verifies after it and is guarded from then on', async () => {
  const place = { home: newHome() }
  await runCli(place, 'migrate')
  await runCli(place, 'keys', 'create', '--name', 'kept', '--json')
  const backup = join(place.home, 'older.db')
  await runCli(place, 'backup', backup)
  await runCli(place, 'keys', 'create', '--name', 'lost', '--json')
  match(await runCli(place, 'audit', 'verify'), /org_default: 3 rows, as they were written/)
  await runCli(place, 'restore', backup, '--replace')
  const verified = await runCli(place, 'audit', 'verify')
  match(verified, /org_default: 2 rows, as they were written/)
  match(verified, /org_installation: 1 rows, as they were written/)
  match(await runCli(place, 'audit', 'list'), /operator {2}installation:restore {2}restore_\S+ {2}\{"file":"older.db"/)
  const db = new DatabaseSync(join(place.home, 'odyssey.db'))
  db.exec("DELETE FROM audit WHERE organization_id = 'org_default'")
  db.exec("DELETE FROM audit_chains WHERE organization_id = 'org_default'")
  db.close()
  const end = await tryCli(place, 'audit', 'verify')
  match(end.stdout, /shortened: The chain ends at row 0, but had come to row 2/, end.stderr)
})

test('an import is in the audit, signed, and what it has brought is anchored', async () => {
  const { url, drop } = await createPostgresDatabase('nothing')
  const place = { home: newHome() }
  await runCli(place, 'migrate')
  await runCli(place, 'keys', 'create', '--name', 'kept', '--json')
  const target = { ...place, environment: { DATABASE_URL: url } }
  await runCli(target, 'import', join(place.home, 'odyssey.db'))
  const anchored = readFileSync(join(place.home, 'audit-anchors.jsonl'), 'utf8')
  for (const chain of ['org_default', 'org_installation']) ok(anchored.includes(chain), chain)
  const rows = (await runCli(target, 'audit', 'export', '--organization', 'org_installation')).trimEnd().split('\n')
  const imported = rows
    .map((row) => JSON.parse(row) as { action: string; after: { file: string; signature: string } })
    .filter(({ action }) => action === 'installation:restore')
  equal(imported.length, 1)
  equal(imported[0]?.after.file, 'odyssey.db')
  match(imported[0]?.after.signature ?? '', /^[0-9a-f]{64}$/)
  match(await runCli(target, 'audit', 'verify'), /org_installation: 1 rows, as they were written/)
  await drop()
})

test('the link of an owner says what they could sign in with, which ends with it where that is asked for', async () => {
  const place = { home: newHome() }
  await runCli(place, 'migrate')
  equal((await tryCli(place, 'owners', 'link', '--end-others')).exitCode, 2, 'nobody signs in yet')
  const db = new DatabaseSync(join(place.home, 'odyssey.db'))
  db.exec("INSERT INTO users (id, name, installation_role, created_at) VALUES ('usr_ann', 'Ann', 'owner', 0)")
  db.exec("INSERT INTO user_emails (email, user_id, is_verified) VALUES ('ann@example.org', 'usr_ann', 0)")
  match(await runCli(place, 'owners', 'link'), /They have no other way to sign in/)
  db.exec(`INSERT INTO passkeys (id, user_id, rp_id, public_key, counter, transports, is_backed_up, name, created_at)
    VALUES ('key', 'usr_ann', 'localhost', '', 0, '[]', 0, 'Old laptop', 0)`)
  db.exec("INSERT INTO recovery_codes (hash, user_id) VALUES ('a', 'usr_ann'), ('b', 'usr_ann')")
  db.close()
  const left = await runCli(place, 'owners', 'link')
  match(left, /still let them in afterwards: the passkey “Old laptop”, 2 recovery codes\. .*--end-others ends them/)
  match(
    await runCli(place, 'owners', 'link', '--end-others'),
    /these end: the passkey “Old laptop”, 2 recovery codes\./,
  )
  const { endsOthers, factors } = JSON.parse(await runCli(place, 'owners', 'link', '--end-others', '--json')) as {
    readonly endsOthers: boolean
    readonly factors: { readonly recoveryCodesLeft: number }
  }
  deepEqual([endsOthers, factors.recoveryCodesLeft], [true, 2])
})
