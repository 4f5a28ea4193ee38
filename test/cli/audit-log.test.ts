// What somebody can check who trusts neither the service nor its operator: signed checkpoints, proofs and exports.

import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { change } from '../../src/db/change.ts'
import { openSqlite } from '../../src/db/open-sqlite.ts'
import { createManualClock } from '../harness/manual-clock.ts'
import { runCli, startCli, tryCli } from '../harness/run-cli.ts'
import { productProgram } from '../harness/as-launched.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-audit-log-'))
const elsewhere = mkdtempSync(join(tmpdir(), 'odyssey-elsewhere-'))
after(() => [home, elsewhere].forEach((folder) => rmSync(folder, { recursive: true })))

const audit = (...args: string[]) => runCli({ home }, 'audit', ...args)
/** On a machine that has nothing of the installation. */
const auditElsewhere = (...args: string[]) => tryCli({ home: join(elsewhere, 'none') }, 'audit', ...args)
const save = (name: string, text: string) => {
  const path = join(elsewhere, name)
  writeFileSync(path, text)
  return path
}

let key: string

before(async () => {
  await runCli({ home }, 'migrate')
  await runCli({ home }, 'organizations', 'create', '--name', 'Neighbour')
  for (const name of ['one', 'two', 'three']) await runCli({ home }, 'keys', 'create', '--name', name)
  await audit('checkpoint')
  key = (await audit('keys')).trim()
})

test('a checkpoint is a note of three lines under the name of the log, which the key vouches for', async () => {
  const lines = (await audit('checkpoint')).split('\n')
  deepEqual([lines[0], lines[3], lines[5]], ['odyssey/audit/org_default', '', ''])
  match(lines[1] ?? '', /^[3-9]$/)
  match(lines[4] ?? '', /^— odyssey\/audit\/org_default [\w+/]+=*$/)
  match(key, /^odyssey\/audit\/org_default\+[\da-f]{8}\+[\w+/]+=*$/)
})

test('programs read the list and the keys as JSON, and are refused it where there is none', async () => {
  const entries = (await audit('list', '--json')).trimEnd().split('\n')
  const actions = entries.map((line) => (JSON.parse(line) as { action: string }).action)
  equal(actions.filter((action) => action === 'api-keys:create').length, 3)
  deepEqual(JSON.parse(await audit('keys', '--json')), [key])
  const { exitCode, stderr } = await tryCli({ home }, 'audit', 'checkpoint', '--json')
  equal(exitCode, 2)
  match(stderr, /^audit checkpoint has no --json; list, export, verify, keys, prove have\.$/m)
})

test('a row is proven elsewhere with the key alone, and a changed one is not', async () => {
  const [first] = (await audit('export', '--organization', 'org_default')).split('\n')
  const { id } = JSON.parse(first ?? '') as { id: string }
  const proof = await audit('prove', id)
  const good = await auditElsewhere('check', save('proof.json', proof), '--key', key)
  deepEqual([good.exitCode, good.stderr], [0, ''])
  match(good.stdout, /^Row 1 stands in the audit: /)
  const changed = proof.replace('"operator"', '"somebody"')
  const bad = await auditElsewhere('check', save('changed.json', changed), '--key', key)
  equal(bad.exitCode, 1)
  match(bad.stdout, /^The row is not row 1 of the \d+ that were signed for\.$/m)
  match((await auditElsewhere('check', save('none.json', '{}'), '--key', key)).stderr, /none\.json is no proof/)
  equal((await auditElsewhere('check', save('proof.json', proof), '--key', 'no+key')).exitCode, 2)
})

test('an export is verified elsewhere, and what is missing of it is found by a checkpoint', async () => {
  const checkpoint = save('checkpoint.txt', await audit('checkpoint'))
  const lines = (await audit('export', '--organization', 'org_default')).trimEnd().split('\n')
  const verify = (kept: readonly string[]) =>
    auditElsewhere('verify', '--export', save('audit.jsonl', kept.join('\n')), '--checkpoint', checkpoint, '--key', key)
  const whole = await verify(lines)
  deepEqual([whole.exitCode, whole.stdout], [0, `org_default: ${lines.length} rows, as they were written\n`])
  const cut = await verify(lines.slice(0, -1))
  equal(cut.exitCode, 1)
  match(cut.stdout, /shortened: The chain ends at row \d+, but had come to row \d+\./)
})

test('old rows that are signed for are deleted, and what is left of them is verified here and elsewhere', async () => {
  const organizationId = 'org_old'
  const db = await openSqlite(join(home, 'odyssey.db'))
  const clock = createManualClock(Date.parse('2020-01-01'))
  for (const target of ['one', 'two', 'three']) {
    const action = { action: 'things:change', organizationId, target } as const
    await change({ db, clock }, { kind: 'operator' }, action, () => Promise.resolve())
  }
  await db.destroy()
  equal((await tryCli({ home }, 'audit', 'expire')).exitCode, 2)
  equal(await audit('expire', '--days', '30'), 'Nothing that may be deleted is older than 30 days.\n')
  const before = save('before.txt', await audit('checkpoint', '--organization', organizationId))
  equal(await audit('expire', '--days', '30'), `${organizationId}: 3 rows were deleted.\n`)
  const verdict = `${organizationId}: 1 rows and the hashes of 3 deleted ones, as they were written\n`
  equal(await audit('verify', '--organization', organizationId, '--checkpoint', before), verdict)
  const exported = save('old.jsonl', await audit('export', '--organization', organizationId))
  const verifier = (await audit('keys', '--organization', organizationId)).trim()
  const elsewhereVerdict = await auditElsewhere(
    'verify',
    '--export',
    exported,
    '--checkpoint',
    before,
    '--key',
    verifier,
  )
  deepEqual([elsewhereVerdict.exitCode, elsewhereVerdict.stdout], [0, verdict])
})

test('a witness elsewhere cosigns, and whoever knows it believes no checkpoint without it', async () => {
  const folder = join(elsewhere, 'witness')
  const made = await auditElsewhere('witness', 'create', '--folder', folder, '--name', 'witness.example/w1')
  const witness = made.stdout.split('\n')[0] ?? ''
  match(witness, /^witness\.example\/w1\+[\da-f]{8}\+[\w+/]+=*$/)
  match((await tryCli({ home }, 'audit', 'verify', '--witness', witness)).stdout, /unwitnessed: No checkpoint/)
  writeFileSync(join(folder, 'logs.txt'), `${key}\n`)
  const none = { home: join(elsewhere, 'none') }
  const { child, ended } = startCli(none, 'audit', 'witness', '--folder', folder, '--port', '0')
  const url = await new Promise<string>((resolve) => {
    child.stdout?.on('data', (text: string) => resolve(/http:\S+/.exec(text)?.[0] ?? ''))
  })
  const config = join(home, 'odyssey.json')
  writeFileSync(config, JSON.stringify({ audit: { witnesses: [{ url, key: witness }] } }))
  const checkpoint = await audit('checkpoint')
  match(checkpoint, /\n— witness\.example\/w1 \S+\n$/)
  child.kill('SIGTERM')
  equal((await ended).exitCode, 0)
  const inside = ['--organization', 'org_default', '--witness', witness]
  equal((await tryCli({ home }, 'audit', 'verify', ...inside)).exitCode, 0)
  equal((await tryCli({ home }, 'audit', 'verify', ...inside, '--quorum', '2')).exitCode, 2)
  const lines = await audit('export', '--organization', 'org_default')
  const files = ['--export', save('audit.jsonl', lines), '--checkpoint', save('cosigned.txt', checkpoint), '--key', key]
  equal((await auditElsewhere('verify', ...files, '--witness', witness)).exitCode, 0)
  save('cosigned.txt', checkpoint.replace(/— witness.*\n/, ''))
  match((await auditElsewhere('verify', ...files, '--witness', witness)).stderr, /cosigned by 1 of the witnesses/)
  const [first] = lines.split('\n')
  const proof = await audit('prove', (JSON.parse(first ?? '') as { id: string }).id)
  const check = ['check', save('proof.json', proof), '--key', key, '--witness']
  equal((await auditElsewhere(...check, witness)).exitCode, 0)
  rmSync(config)
})

test('a row that is edited after it was signed for makes the verification fail, by the checkpoint of somebody else too', async () => {
  const checkpoint = save('mine.txt', await audit('checkpoint'))
  equal((await tryCli({ home }, 'audit', 'verify', '--checkpoint', checkpoint)).exitCode, 0)
  const db = new DatabaseSync(join(home, 'odyssey.db'))
  db.exec(`update audit set actor = 'somebody' where sequence = 2 and organization_id = 'org_default'`)
  db.close()
  const verdict = await tryCli({ home }, 'audit', 'verify')
  equal(verdict.exitCode, 1)
  match(verdict.stdout, /edited: Row 2/)
  match(
    (await tryCli({ home }, 'audit', 'verify', '--checkpoint', save('empty.txt', ''))).stderr,
    /holds no checkpoint/,
  )
})

test('a new key signs beside the old one from its rotation on', async () => {
  await audit('rotate-key')
  await runCli({ home }, 'keys', 'create', '--name', 'four')
  const note = await audit('checkpoint')
  equal(note.match(/^— /gm)?.length, 2)
  equal((await audit('keys')).trim().split('\n').length, 2)
  match(readFileSync(join(home, 'audit-checkpoints.txt'), 'utf8'), /^odyssey\/audit\/org_default\n/)
})

test('a key on another machine signs by a command, from its rotation on, and nothing is signed without it', async () => {
  const keyFile = join(elsewhere, 'audit.pem')
  const made = await auditElsewhere('sign', 'create', '--key-file', keyFile)
  deepEqual([made.exitCode, made.stderr], [0, ''])
  equal((await auditElsewhere('sign', 'create', '--key-file', keyFile)).exitCode, 1, 'A key is never written over.')
  const publicKey = made.stdout.trim()
  const signer = { publicKey, command: [process.execPath, productProgram, 'audit', 'sign', '--key-file', keyFile] }
  const configure = (audit: object) => writeFileSync(join(home, 'odyssey.json'), JSON.stringify({ audit }))
  try {
    configure({ signer })
    match(
      (await tryCli({ home }, 'audit', 'checkpoint')).stderr,
      /audit\.signer is not the key.*rotate-key makes it that/,
    )
    match(await audit('rotate-key'), /The key of audit\.signer signs from now on/)
    match((await tryCli({ home }, 'audit', 'rotate-key')).stderr, /signs already/)
    await runCli({ home }, 'keys', 'create', '--name', 'five')
    equal(
      (await audit('checkpoint')).match(/^— /gm)?.length,
      2,
      'The key of the data folder signs as well for a while.',
    )
    const keys = (await audit('keys')).trim().split('\n')
    const shown = keys.map((one) => Buffer.from(one.split('+').slice(2).join('+'), 'base64').subarray(1))
    equal(shown.filter((one) => one.toString('base64') === publicKey).length, 1)
    await runCli({ home }, 'keys', 'create', '--name', 'six')
    configure({ signer: { ...signer, command: [process.execPath, '-e', 'console.error("locked"); process.exit(3)'] } })
    match((await tryCli({ home }, 'audit', 'checkpoint')).stderr, /The command of audit\.signer ended with 3: locked/)
    configure({ signer: { ...signer, command: [process.execPath, '-e', 'console.log("aGVsbG8=")'] } })
    match((await tryCli({ home }, 'audit', 'checkpoint')).stderr, /is no signature by its key/)
    configure({ signer: { ...signer, command: ['/nonexistent/signer'] } })
    match((await tryCli({ home }, 'audit', 'checkpoint')).stderr, /The command of audit\.signer cannot be run/)
    configure({ signer: { publicKey: 'none', command: [] } })
    match((await tryCli({ home }, 'audit', 'checkpoint')).stderr, /audit\.signer\.publicKey.*32 bytes/)
  } finally {
    rmSync(join(home, 'odyssey.json'))
  }
})
