import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { HttpsReceiver, makeCertificate, SyslogReceiver, type Mood } from '../../../test/campaigns/sinks/receivers.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { interleave } from '../../../test/harness/databases/interleave.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { change, installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { signCheckpoints } from '../../accounts/transparency/sign-checkpoints.ts'
import { localKey } from '../../lib/signed-note.ts'
import { createLog } from '../../telemetry/log.ts'
import { createMetrics } from '../../telemetry/metrics.ts'
import { createReachable } from '../private-addresses.ts'
import { createPoster, signWebhook } from '../webhook.ts'
import { declareSinks, type DeclaredSink } from './declare-sinks.ts'
import { startPushingAudit, type AuditPusher } from './push-audit.ts'
import { createSink, listSinks, readSink, removeSink, testSink, updateSink, type NewSink } from './sinks.ts'
import { formatSyslog, sendSyslog } from './send-batch.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-sinks-'))
after(() => rmSync(folder, { recursive: true }))

const operator = { kind: 'operator' } as const
const alertKey = new Uint8Array(32)
const organizationId: OrganizationId = 'org_1'
const own = makeCertificate(folder)
const stranger = makeCertificate(folder, 'stranger')
const { privateKey } = generateKeyPairSync('ed25519')

test('syslog begins no connection once the service stops, which nothing would end in time', async (t) => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver = { host: '127.0.0.1', port: (server.address() as AddressInfo).port, tls: {} }
  const sending = sendSyslog({ receiver, messages: ['x'], isReachable: () => true, signal: AbortSignal.abort() })
  await rejects(sending, { name: 'AbortError' })
  equal(connections, 0)
})

test('a message of syslog has the parts of RFC 5424 behind the count of its bytes', () => {
  const parts = { atMs: Date.UTC(2026, 10, 2, 8), kind: 'api-keys:rotate', host: 'log.example' }
  const text = '{"id":"é\u{1F680}"}'
  equal(
    formatSyslog({ ...parts, isWarning: false, text }),
    '99 <109>1 2026-11-02T08:00:00.000Z log.example odyssey - api-keys:rotate - {"id":"\\u00e9\\ud83d\\ude80"}',
  )
  match(formatSyslog({ ...parts, isWarning: true, text, host: '' }), /^\d+ <108>1 \S+ - odyssey /)
})

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let pusher: AuditPusher
  let https: HttpsReceiver
  let syslog: SyslogReceiver

  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    https = await new HttpsReceiver(own).open()
    syslog = await new SyslogReceiver(own).open()
    pusher = start()
  })
  afterEach(async () => {
    await pusher.close()
    await https.close()
    await syslog.close()
    await db.destroy()
  })

  const parts = () => ({ db, clock, alertKey })
  const metrics = createMetrics({ version: '9.9.9', readEngines: () => [] })
  const start = (networks: readonly string[] = ['127.0.0.1']) => {
    const isReachable = createReachable(networks)
    const poster = createPoster(isReachable)
    const product = { version: '9.9.9', host: 'log.example' }
    // The tests say when it looks: what the clock sets off would try besides, as often as the machine lets it.
    const lookEveryMs = 2 ** 31
    return startPushingAudit({
      ...parts(),
      log: createLog('silent'),
      poster,
      isReachable,
      product,
      metrics,
      lookEveryMs,
    })
  }
  const restart = async (networks?: readonly string[]) => {
    await pusher.close()
    pusher = start(networks)
  }
  const create = (wanted: Partial<NewSink> & Pick<NewSink, 'kind' | 'address'>) =>
    createSink(parts(), operator, {
      organizationId,
      name: 'SIEM',
      format: 'json',
      from: 'now',
      ca: own.cert,
      ...wanted,
    })
  const add = async (count: number, of: OrganizationId = organizationId) => {
    for (let made = 1; made <= count; made += 1) {
      const action = { action: 'things:change', organizationId: of, target: `thing ${made}` }
      await change({ db, clock }, operator, action, (_, note) => Promise.resolve(note(null, { made })))
    }
  }
  /** Pushes until nothing is left, over the pauses after failures. */
  const pushAll = async (times = 30) => {
    for (let turn = 0; turn < times; turn += 1) {
      await pusher.push()
      clock.advance(300_000)
    }
  }
  const sign = () =>
    signCheckpoints(
      { db, clock },
      { keys: [localKey(privateKey)], name: 'log.example', file: join(folder, `checkpoints-${database.name}.txt`) },
    )
  const moods = (...list: readonly Mood[]) => {
    const rest = [...list]
    return () => rest.shift() ?? 'take'
  }

  test('a webhook is given signed batches of what is done from then on, and the checkpoints behind their rows', async () => {
    await add(2)
    const { id, secret } = await create({
      kind: 'webhook',
      address: https.address,
      header: { name: 'Authorization', value: 'Splunk abc' },
    })
    await add(3)
    await sign()
    await pusher.push()
    deepEqual(
      https.events.map((event) => event['checkpoint']?.size ?? event['action']),
      ['audit-sinks:create', 'things:change', 'things:change', 'things:change', 6],
    )
    const [post] = https.posts
    equal(https.posts.length, 1)
    const { 'webhook-id': batch, 'webhook-timestamp': at, 'webhook-signature': signature } = post?.headers ?? {}
    equal(batch, `${id}.org_1.3-c6`)
    const expected = signWebhook(secret ?? '', { id: String(batch), body: post?.body ?? '' }, Number(at) * 1_000)
    equal(signature, expected['webhook-signature'])
    equal(post?.headers['authorization'], 'Splunk abc')
    equal(JSON.stringify(await db.selectFrom('audit').selectAll().execute()).match(/hidden|Splunk|whsec_/), null)
    const shown = await readSink({ db }, operator, { organizationId, id })
    deepEqual([shown.target, shown.behind.rows, shown.failures], [new URL(https.address).origin, 0, 0])
  })

  test('one that begins at the begin is given the audit from its first row', async () => {
    await add(450)
    await create({ kind: 'webhook', address: https.address, from: 'begin' })
    await pusher.push()
    deepEqual(
      https.events.map(({ sequence }) => sequence),
      Array.from({ length: 451 }, (_, index) => index + 1),
    )
  })

  for (const kind of ['webhook', 'syslog'] as const) {
    const receiver = () => (kind === 'webhook' ? https : syslog)
    const sequences = () => receiver().events.map(({ sequence }) => sequence)

    test(`a ${kind} receiver that fails, leaves and loses answers is given every row, in order`, async () => {
      const { id } = await create({ kind, address: receiver().address, from: 'begin' })
      receiver().mood = moods('refuse', 'leave', 'take', 'lose', 'refuse', 'lose', 'take')
      for (let round = 0; round < 6; round += 1) {
        await add(5)
        await pushAll(2)
      }
      await pushAll(6)
      const first = [...new Set(sequences())]
      deepEqual(
        first,
        Array.from({ length: 31 }, (_, index) => index + 1),
      )
      ok(sequences().length > first.length, 'What was lost comes again.')
      const ids = new Map(receiver().events.map((event) => [event['sequence'], event['id']]))
      for (const event of receiver().events) equal(event['id'], ids.get(event['sequence']))
      deepEqual(syslog.faults, [])
      equal((await readSink({ db }, operator, { organizationId, id })).behind.rows, 0)
    })

    test(`a ${kind} receiver that is away is waited for, and its lag is told`, async () => {
      const { id } = await create({ kind, address: receiver().address })
      await pusher.push()
      await receiver().close()
      await add(4)
      clock.advance(60_000)
      await pusher.push()
      const { behind, failures, lastError } = await readSink({ db }, operator, { organizationId, id })
      deepEqual([behind.rows, failures], [4, 1])
      match(lastError ?? '', /ECONNREFUSED|ECONNRESET|hang up/)
      const lag = async () => /lag_rows\{sink="made"\} (\d+)/.exec((await metrics.expose()).text)?.[1]
      equal(await lag(), '4')
      await receiver().open()
      await pushAll(3)
      deepEqual(sequences(), [1, 2, 3, 4, 5])
      equal(await lag(), '0')
    })

    test(`a ${kind} receiver that hangs is given the same again by the next process`, async () => {
      await create({ kind, address: receiver().address })
      let isHung = false
      receiver().mood = () => {
        const mood = isHung ? 'take' : 'hang'
        isHung = true
        return mood
      }
      const hung = pusher.push()
      while (!isHung) await new Promise((resolve) => setTimeout(resolve, 5))
      await restart()
      await hung
      await pusher.push()
      deepEqual(sequences(), [1])
    })

    test(`${kind} is spoken with nobody who shows another certificate, and with nobody inside`, async () => {
      const { id } = await create({ kind, address: receiver().address, ca: stranger.cert })
      await pusher.push()
      match((await readSink({ db }, operator, { organizationId, id })).lastError ?? '', /self.signed certificate/)
      await restart([])
      await pushAll(2)
      match((await readSink({ db }, operator, { organizationId, id })).lastError ?? '', /private address/)
      deepEqual(sequences(), [])
    })
  }

  test('a receiver that asks for a certificate is shown the one of the sink', async () => {
    await syslog.close()
    syslog = await new SyslogReceiver({ ...own, ca: stranger.cert, requestCert: true }).open()
    const mutual = { certificate: stranger.cert, privateKey: stranger.key }
    const nobody = await create({ kind: 'syslog', address: syslog.address })
    await pusher.push()
    equal((await readSink({ db }, operator, { organizationId, id: nobody.id })).failures, 1)
    await create({ kind: 'syslog', address: syslog.address, ...mutual })
    await pusher.push()
    deepEqual(
      syslog.events.map(({ action }) => action),
      ['audit-sinks:create'],
    )
  })

  test('a receiver that is gone for good disables its sink, and no row is lost when it is enabled again', async () => {
    const { id } = await create({ kind: 'webhook', address: https.address })
    https.mood = () => 'refuse'
    https.refusal = 410
    await pusher.push()
    ok((await readSink({ db }, operator, { organizationId, id })).disabledAtMs !== null)
    await add(2)
    https.mood = () => 'take'
    await pushAll(2)
    deepEqual(https.events, [])
    await updateSink(parts(), operator, { organizationId, id, isEnabled: true })
    await pushAll(2)
    deepEqual(
      https.events.map(({ action }) => action),
      ['audit-sinks:create', 'things:change', 'things:change', 'audit-sinks:update'],
    )
    await testSink(parts(), operator, { organizationId, id })
    await pusher.push()
    equal(https.events.at(-1)?.['action'], 'audit-sinks:test')
    await removeSink(parts(), operator, { organizationId, id })
    equal((await db.selectFrom('audit_sink_cursors').selectAll().execute()).length, 0)
  })

  test('a sink of the installation is given the audit of everybody, and that of who comes later from its first row', async () => {
    await add(2, 'org_old')
    await create({ kind: 'webhook', address: https.address, organizationId: installationChain })
    await add(1, 'org_old')
    await add(2, 'org_new')
    await pusher.push()
    const told = https.events.map(({ organization, sequence }) => `${organization} ${sequence}`)
    deepEqual(told.toSorted(), ['org_installation 1', 'org_new 1', 'org_new 2', 'org_old 3'])
    equal(
      (await readSink({ db }, operator, { organizationId: installationChain, id: (await ids())[0] ?? '' })).behind.rows,
      0,
    )
  })

  test('the audit of one organization that a receiver refuses as too large does not hold up that of the others', async () => {
    const owner = { organizationId: installationChain }
    const { id } = await create({ kind: 'webhook', address: https.address, ...owner })
    for (const whose of ['org_large', 'org_a', 'org_z'] as const) await add(1, whose)
    https.refusal = 413
    https.moodOf = ({ body }) => (body.includes('org_large') ? 'refuse' : 'take')
    await pusher.push()
    deepEqual(
      https.events.map(({ organization, sequence }) => `${organization} ${sequence}`),
      ['org_a 1', 'org_installation 1', 'org_z 1'],
    )
    for (const failures of [1, 2]) {
      const shown = await readSink({ db }, operator, { ...owner, id })
      deepEqual([shown.failures, shown.lastError, shown.behind.rows], [failures, 'The receiver answered 413.', 1])
      await add(1, 'org_a')
      clock.advance(300_000)
      await pusher.push()
    }
    https.moodOf = () => 'take'
    await pushAll(2)
    const shown = await readSink({ db }, operator, { ...owner, id })
    deepEqual([shown.failures, shown.lastError, shown.behind.rows], [0, null, 0])
  })

  test('a batch that a receiver refuses as too large is sent in halves, and a row that is too large alone is given up', async () => {
    await add(150)
    const { id } = await create({ kind: 'webhook', address: https.address, from: 'begin' })
    https.refusal = 413
    const countOf = (body: string) => (JSON.parse(body) as unknown[]).length
    https.moodOf = ({ body }) => (countOf(body) > 60 || body.includes('"thing 99"') ? 'refuse' : 'take')
    const last = 151
    await pusher.push()
    const sequences = () => https.events.map(({ sequence }) => sequence)
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
    deepEqual(sequences(), numbers(1, 98))
    const reference = { organizationId, id }
    const before = await readSink({ db }, operator, reference)
    deepEqual([before.failures, before.givenUp, before.lastError], [1, 0, 'The receiver answered 413.'])
    await pushAll()
    deepEqual(sequences(), [...numbers(1, 98), ...numbers(100, last)])
    const after = await readSink({ db }, operator, reference)
    deepEqual([after.failures, after.givenUp, after.lastGivenUp, after.behind.rows], [0, 1, 'org_1 99', 0])
  })

  test('a receiver that refuses everything as too large is given up to row by row, not all of it at once', async () => {
    await add(20)
    const { id } = await create({ kind: 'webhook', address: https.address, from: 'begin' })
    https.refusal = 413
    https.moodOf = () => 'refuse'
    await pushAll(12)
    const shown = await readSink({ db }, operator, { organizationId, id })
    deepEqual([shown.failures, shown.givenUp, shown.behind.rows], [12, 3, 18])
  })

  const ids = async () =>
    (await listSinks({ db }, operator, { organizationId: installationChain })).items.map(({ id }) => id)

  test('two processes give a receiver each row once while neither dies', async () => {
    await create({ kind: 'syslog', address: syslog.address })
    const other = start()
    for (let round = 0; round < 5; round += 1) {
      await add(10)
      await Promise.all([pusher.push(), other.push()])
    }
    await Promise.all([pusher.push(), other.push()])
    await other.close()
    deepEqual(
      syslog.events.map(({ sequence }) => sequence),
      Array.from({ length: 51 }, (_, index) => index + 1),
    )
  })

  describe('sinks of the config file', () => {
    const file = () => ({
      kind: 'file' as const,
      name: 'log',
      format: 'json' as const,
      from: 'begin' as const,
      address: join(folder, `audit-${database.name}.jsonl`),
    })
    const lines = () => readFileSync(file().address, 'utf8').trimEnd().split('\n')

    test('a file is given whole lines, for its owner alone, also behind half of one', async () => {
      await add(2)
      await declareSinks(parts(), [file()])
      await pusher.push()
      equal(lines().length, 3)
      equal(statSync(file().address).mode & 0o777, 0o600)
      appendFileSync(file().address, '{"half')
      await add(1)
      await pusher.push()
      deepEqual(
        lines().map((line) => (line === '{"half' ? 'half' : (JSON.parse(line) as { action: string }).action)),
        ['things:change', 'things:change', 'audit-sinks:create', 'half', 'things:change'],
      )
      rmSync(file().address)
    })

    test('gateways that start at the same moment add and remove each of them once', async () => {
      const declareTwice = (sinks: readonly DeclaredSink[]) =>
        Promise.all([declareSinks(parts(), sinks), declareSinks(parts(), sinks)])
      await declareTwice([file()])
      equal((await ids()).length, 1)
      await declareTwice([])
      deepEqual(await ids(), [])
      const rows = await db.selectFrom('audit').select('action').orderBy('sequence').execute()
      deepEqual(
        rows.map(({ action }) => action),
        ['audit-sinks:create', 'audit-sinks:remove'],
      )
    })

    test('they are what the file says after each start, and nobody else changes them', async () => {
      await declareSinks(parts(), [file()])
      await declareSinks(parts(), [file()])
      const [id = ''] = await ids()
      const reference = { organizationId: installationChain, id }
      await rejects(updateSink(parts(), operator, { ...reference, isEnabled: false }), /config file/)
      await rejects(removeSink(parts(), operator, reference), /config file/)
      await declareSinks(parts(), [{ ...file(), format: 'ocsf' }])
      deepEqual(await ids(), [id])
      equal((await readSink({ db }, operator, reference)).format, 'ocsf')
      await declareSinks(parts(), [])
      deepEqual(await ids(), [])
      const rows = await db.selectFrom('audit').select('action').orderBy('sequence').execute()
      deepEqual(
        rows.map(({ action }) => action),
        ['audit-sinks:create', 'audit-sinks:update', 'audit-sinks:remove'],
      )
    })
  })

  test('what cannot be pushed to is refused with the field', async () => {
    const wrong: readonly [Partial<NewSink> & Pick<NewSink, 'kind' | 'address'>, RegExp][] = [
      [{ kind: 'file', address: '/tmp/x' }, /config file alone/],
      [{ kind: 'webhook', address: 'http://siem.example.com' }, /needs an address with https/],
      [{ kind: 'webhook', address: 'https://me:secret@siem.example.com' }, /no password/],
      [{ kind: 'syslog', address: 'siem.example.com:6514' }, /tls:\/\/host:6514/],
      [{ kind: 'syslog', address: 'tls://siem.example.com/path' }, /a host and a port alone/],
      [{ kind: 'syslog', address: 'tls://siem.example.com', header: { name: 'a', value: 'b' } }, /Only a webhook/],
      [{ kind: 'webhook', address: https.address, header: { name: 'Content-Length', value: '1' } }, /is set by/],
      [{ kind: 'webhook', address: https.address, header: { name: 'a', value: 'b\r\nc' } }, /visible ASCII/],
      [{ kind: 'webhook', address: https.address, ca: 'none' }, /no certificate in PEM/],
      [{ kind: 'webhook', address: https.address, certificate: own.cert }, /belong together/],
      [{ kind: 'webhook', address: https.address, certificate: own.cert, privateKey: stranger.key }, /not the key/],
    ]
    for (const [wanted, words] of wrong) await rejects(create(wanted), words)
    equal((await db.selectFrom('audit_sinks').selectAll().execute()).length, 0)
  })

  // SQLite has one writer at a time, so that nobody waits for anybody with something in hand.
  if (database.name !== 'PostgreSQL') return

  test('a sink of the installation is changed while it is removed or tried, and neither waits for the other for ever', async () => {
    const owner = { organizationId: installationChain }
    for (const other of [testSink, removeSink]) {
      const { id } = await create({ kind: 'webhook', address: https.address, ...owner })
      const change = (own: Database) => updateSink({ db: own, clock }, operator, { ...owner, id, name: 'other' })
      await interleave(db, ['audit_chains'], change, () => other({ db, clock }, operator, { ...owner, id }))
    }
  })
})
