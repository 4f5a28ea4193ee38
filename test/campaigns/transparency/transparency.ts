// The code of Go's checksum database checks what the audit's log gives out: checkpoints, inclusion and consistency at
// random sizes, and a whole log that is read over HTTP, tile by tile. Go has to be on the machine.

import { equal, notEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatCheckpoint } from '../../../src/accounts/transparency/checkpoint.ts'
import { signCheckpoint } from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { growTree, subtreesOf } from '../../../src/accounts/transparency/tiles.ts'
import { closeMonth, reportName } from '../../../src/billing/availability/close-months.ts'
import { periodOf } from '../../../src/billing/availability/month.ts'
import type { OrganizationId } from '../../../src/core/ids.ts'
import { change } from '../../../src/db/change.ts'
import type { Database } from '../../../src/db/database.ts'
import { openSqlite } from '../../../src/db/open-sqlite.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { proveConsistency, proveInclusion, rootOf } from '../../../src/lib/merkle-tree.ts'
import { formatVerifier, localKey, publicKeyOf, signNote } from '../../../src/lib/signed-note.ts'
import { openManagementService } from '../../harness/management-service.ts'
import { Failures, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'

const organizationId: OrganizationId = 'org_default'
const rowsPerSize = 1_000
const rowsAtOnce = 500

export async function runTransparency({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-transparency-'))
  const db = await openSqlite(join(folder, 'odyssey.db'))
  const service = await openManagementService(db)
  try {
    const { privateKey } = generateKeyPairSync('ed25519')
    const verifier = { name: `log.example/audit/${organizationId}`, publicKey: publicKeyOf(privateKey) }
    const rows = await fill(db, service, count * rowsPerSize)
    log(`${rows} rows are written`)
    const begunMs = performance.now()
    await growTree(db, organizationId)
    const buildSeconds = (performance.now() - begunMs) / 1_000
    const claims = await makeClaims(db, { privateKey, name: verifier.name, rows, count, random: createRandom(seed, 1) })
    log(`${count} sizes are proven`)
    const [forged = '', ...verdicts] = await runGo([formatVerifier(verifier)], [forge(claims[0] ?? '{}'), ...claims])
    for (const [place, verdict] of verdicts.entries()) failures.check(`size ${place}`, () => equal(verdict, '<nil>'))
    failures.check('forged', () => notEqual(forged, '<nil>', 'A row that is not in the log is taken for one.'))
    failures.check('sizes', () => equal(verdicts.length, count))
    await checkReport(db, privateKey, failures)
    const signing = { keys: [localKey(privateKey)], name: 'log.example', file: join(folder, 'checkpoints.txt') }
    equal(await signCheckpoint(service, signing, organizationId), null)
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = service.app.server.address() as AddressInfo
    const prefix = `http://127.0.0.1:${port}/api/v1/organizations/${organizationId}/audit/log`
    const [read] = await runGo([formatVerifier(verifier), prefix, service.key], [])
    failures.check('over HTTP', () => equal(read, `${rows} <nil>`))
    return failures.toResult({
      rows,
      'seconds until the tiles were built': buildSeconds.toFixed(1),
      'read over HTTP': read ?? '',
    })
  } finally {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The report of a month is a signed note as well, and one with another number in it is none. */
async function checkReport(db: Database, privateKey: KeyObject, failures: Failures): Promise<void> {
  const question = { organizationId, month: '2026-01', currency: 'USD' }
  const { fromMs, untilMs } = periodOf(question.month)
  const span = { boot_id: 'boot_1', number: 0, subject: '', ended_by: null, from_at: fromMs, until_at: untilMs }
  await db.insertInto('life_spans').values(span).execute()
  await db.updateTable('organizations').set({ created_at: fromMs }).where('id', '=', organizationId).execute()
  const clock = { ...systemClock, nowMs: () => untilMs + 86_400_000 }
  const signing = { keys: [localKey(privateKey)], name: 'log.example' }
  await closeMonth({ db, clock }, signing, question)
  const { note: report } = await db.selectFrom('sla_reports').select('note').executeTakeFirstOrThrow()
  const verifier = { name: reportName(signing, organizationId), publicKey: publicKeyOf(privateKey) }
  const forged = report.replace(/"down": \d+/, '"down": 1')
  const lines = [report, forged].map((note) => JSON.stringify({ note }))
  const [sound, changed] = await runGo([formatVerifier(verifier)], lines)
  failures.check('report', () => equal(sound, '<nil>'))
  failures.check('report', () => notEqual(forged, report))
  failures.check('report', () => notEqual(changed, '<nil>', 'A report that was changed is taken for the signed one.'))
}

/** Fills the audit with rows of made-up hashes behind the first one: the log has no part in what is in a row. */
async function fill(db: Database, parts: Pick<Parameters<typeof change>[0], 'db' | 'clock'>, count: number) {
  const action = { action: 'things:change', organizationId, target: 'thing' }
  await change(parts, { kind: 'operator' }, action, () => Promise.resolve())
  const { sequence: first } = await readEnd(db)
  const row = { at: 0, organization_id: organizationId, actor: 'operator', action: 'a', target: 't' } as const
  const nothing = { before: null, after: null, address: null, request_id: null, previous_hash: '' } as const
  for (let sequence = first + 1; sequence <= count; sequence += rowsAtOnce) {
    const rows = Array.from({ length: Math.min(rowsAtOnce, count - sequence + 1) }, (_, index) => {
      return { ...row, ...nothing, id: `audit_${sequence + index}`, sequence: sequence + index, hash: randomHash() }
    })
    await db.insertInto('audit').values(rows).execute()
  }
  await db.updateTable('audit_chains').set({ sequence: count }).where('organization_id', '=', organizationId).execute()
  return count
}

function readEnd(db: Database) {
  return db
    .selectFrom('audit_chains')
    .select('sequence')
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
}

function randomHash(): string {
  return randomBytes(32).toString('hex')
}

type Making = {
  readonly privateKey: KeyObject
  readonly name: string
  readonly rows: number
  readonly count: number
  readonly random: Random
}

/** Lines of JSON, each of which proves a row and an older size in a random one. */
async function makeClaims(db: Database, { privateKey, name, rows, count, random }: Making): Promise<string[]> {
  const read = subtreesOf(db, organizationId)
  const noteOf = async (size: number) => {
    const text = formatCheckpoint({ origin: name, size, root: await rootOf(size, read) })
    return signNote(text, [{ name, key: localKey(privateKey) }])
  }
  const lines: string[] = []
  for (let made = 0; made < count; made += 1) {
    const size = random.integer(1, rows)
    const older = random.integer(1, size)
    const index = random.integer(0, size - 1)
    const { hash } = await db
      .selectFrom('audit')
      .select('hash')
      .where('organization_id', '=', organizationId)
      .where('sequence', '=', index + 1)
      .executeTakeFirstOrThrow()
    const toText = (hashes: readonly Buffer[]) => hashes.map((one) => one.toString('base64'))
    lines.push(
      JSON.stringify({
        checkpoint: await noteOf(size),
        older: await noteOf(older),
        consistency: toText(await proveConsistency(older, size, read)),
        index,
        entry: Buffer.from(hash ?? '', 'hex').toString('base64'),
        inclusion: toText(await proveInclusion(index, size, read)),
      }),
    )
  }
  return lines
}

function forge(claim: string): string {
  return JSON.stringify({ ...(JSON.parse(claim) as object), entry: randomBytes(32).toString('base64') })
}

/** Runs the checks in Go. Returns what it says, line by line. */
function runGo(args: readonly string[], input: readonly string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', ['run', '.', ...args], { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece))
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(said.trimEnd().split('\n'))
      else reject(new Error(`go run ended with ${code}.`))
    })
    child.stdin.end(input.join('\n'))
  })
}
