import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { openMailServer } from '../../test/harness/open-mail-server.ts'
import { mailRelay } from '../config/mail-schema.ts'
import type { Database } from '../db/database.ts'
import { isMailAddress } from '../config/mail-address.ts'
import { createLog } from '../telemetry/log.ts'
import { raise } from './append-event.ts'
import { createChannel, readChannel, testChannel } from './channels.ts'
import { startDelivering, type Deliverer } from './deliver.ts'
import { createMailer, type Mail } from './mail.ts'
import { writeMail } from './mail-text.ts'
import { createReachable } from './private-addresses.ts'
import { createPoster } from './webhook.ts'

type MailServer = Awaited<ReturnType<typeof openMailServer>>

const operator = { kind: 'operator' } as const
const alertKey = new Uint8Array(32)
const organizationId = 'org_1'
const from = 'odyssey@example.com'
const mail: Mail = { id: 'evt_1', to: 'on-call@example.com', subject: 'Hello', text: 'There', atMs: 0 }
const never = new AbortController().signal

const relay = ({ port }: MailServer, rest: object = {}) => mailRelay.parse({ host: '127.0.0.1', port, from, ...rest })
const trusting = ({ certificate }: MailServer) => ({ password: null, ca: certificate })
const addressNotThere = Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 })

describe('an address', () => {
  test('is one address and nothing else', () => {
    const good = ['a@b', "o'neil+x@mail.example.com", 'A.B_c@xn--bcher-kva.example']
    const injecting = [
      'a@b.c\r\nBcc: x@y.z',
      'a@b.c\nRCPT TO:<x@y.z>',
      'a@b.c, x@y.z',
      'a@b.c x@y.z',
      '<a@b.c>',
      'A <a@b.c>',
    ]
    const odd = [
      '"a b"@c.d',
      'a(comment)@b.c',
      'a@b@c',
      '@b.c',
      'a@',
      'a..b@c.d',
      '.a@b.c',
      'a@-b.c',
      'a@b..c',
      'ä@b.c',
      'a@[127.0.0.1]',
      '',
    ]
    const long = [`${'a'.repeat(65)}@b.c`, `a@${'b.'.repeat(130)}c`]
    deepEqual(
      good.filter((address) => !isMailAddress(address)),
      [],
    )
    deepEqual([...injecting, ...odd, ...long].filter(isMailAddress), [])
  })
})

test('a model is told to be down, whether its engine ends again and again or its replicas cannot be reached', () => {
  const data = { model: 'hal-1.0', reason: 'No replica was found by name.' }
  const organization = { id: 'org_installation', name: 'the installation' }
  const told = {
    id: 'evt_1',
    topic: 'engine.crash-loop',
    atMs: 0,
    data,
    organization,
    channel: 'x',
    page: null,
  } as const
  const { subject, text } = writeMail(told)
  equal(subject, '[Odyssey] A model is down: the installation')
  match(text, /^reason: No replica was found by name\.$/m)
})

describe('a relay', () => {
  test('is given mail over TLS, with name and password', async () => {
    for (const tls of ['starttls', 'implicit'] as const) {
      const login = { user: 'odyssey', password: 'pass: wörd' }
      const server = await openMailServer({ tls, login })
      const settings = relay(server, { tls, user: login.user, password: 'env:X' })
      const mailer = createMailer(settings, { password: login.password, ca: server.certificate })
      await mailer.check()
      await mailer.send(mail, never)
      const [received] = server.received
      deepEqual([received?.isSecure, received?.from, received?.to], [true, from, [mail.to]])
      match(received?.raw ?? '', /^Message-ID: <evt_1@example\.com>$/im)
      match(received?.raw ?? '', /^Auto-Submitted: auto-generated$/im)
      const wrong = createMailer(settings, { password: 'other', ca: server.certificate })
      await rejects(wrong.send(mail, never), /did not let this service in/)
      await rejects(wrong.check(), /535/)
      await server.close()
    }
  })

  test('that offers no TLS, or has a certificate of nobody, is given nothing unless the operator says so', async () => {
    const plain = await openMailServer({ tls: 'none' })
    await rejects(createMailer(relay(plain), trusting(plain)).send(mail, never), /could not be reached/)
    await createMailer(relay(plain, { tls: 'none' }), trusting(plain)).send(mail, never)
    equal(plain.received.length, 1)
    await plain.close()
    const unknown = await openMailServer()
    await rejects(createMailer(relay(unknown), { password: null, ca: null }).send(mail, never), /could not be reached/)
    equal(unknown.received.length, 0)
    await unknown.close()
  })

  test('that offers no sign-in is not given mail where there is a password', async () => {
    const server = await openMailServer()
    const settings = relay(server, { user: 'odyssey', password: 'env:X' })
    await rejects(createMailer(settings, { password: 'secret', ca: server.certificate }).send(mail, never))
    equal(server.received.length, 0)
    await server.close()
  })

  test('that says there is no such mailbox is told apart from one that says so for now', async () => {
    const later = Object.assign(new Error('4.2.1 Later'), { responseCode: 450 })
    const server = await openMailServer({ refuse: (address) => (address.startsWith('gone') ? addressNotThere : later) })
    const mailer = createMailer(relay(server), trusting(server))
    await rejects(mailer.send({ ...mail, to: 'gone@example.com' }, never), { isFinal: true, message: /550 5\.1\.1/ })
    await rejects(mailer.send({ ...mail, to: 'busy@example.com' }, never), { isFinal: false, message: /450 4\.2\.1/ })
    await server.close()
  })

  test('gets no further header or command out of a subject or a text', async () => {
    const server = await openMailServer()
    const mailer = createMailer(relay(server), trusting(server))
    const subject = 'One\r\nBcc: other@example.com\r\n\r\nbody'
    await mailer.send({ ...mail, subject, text: 'a\r\n.\r\nMAIL FROM:<x@y.z>\r\n' }, never)
    const [head = ''] = server.received[0]?.raw.split('\r\n\r\n', 1) ?? []
    equal(server.received.length, 1)
    deepEqual(server.received[0]?.to, [mail.to])
    ok(!/^bcc:/im.test(head), head)
    await server.close()
  })

  test('that hangs is given up when the service stops', async () => {
    const server = await openMailServer({ refuse: () => undefined })
    const stopped = new AbortController()
    const sending = createMailer(relay(server), trusting(server)).send(mail, stopped.signal)
    stopped.abort()
    await rejects(sending)
    await server.close()
  })
})

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let server: MailServer
  let deliverer: Deliverer
  let refusal: Error | undefined
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    refusal = undefined
    server = await openMailServer({ refuse: () => refusal })
    deliverer = start()
  })
  afterEach(async () => {
    await deliverer.close()
    await server.close()
    await db.destroy()
  })

  const parts = () => ({ db, clock })
  const start = (settings: object = {}) => {
    const mailer = createMailer(relay(server, settings), trusting(server))
    const pageOf = (id: string) => `https://ai.example.com/o/${id}/alerts`
    const poster = createPoster(createReachable([]))
    return startDelivering({ ...parts(), log: createLog('silent'), alertKey, poster, mail: { mailer, pageOf } })
  }
  const make = (fields: object = {}, recipientDomains: readonly string[] | null = null) => {
    const making = { ...parts(), alertKey, mail: { recipientDomains: recipientDomains as string[] | null } }
    const wanted = {
      organizationId,
      kind: 'email',
      name: 'On call',
      address: mail.to,
      topics: ['budget.threshold'],
    } as const
    return createChannel(making, operator, { ...wanted, ...fields })
  }
  const cause = {
    organizationId,
    topic: 'budget.threshold',
    cause: 'b:0:80',
    windowMs: 3_600_000,
    data: { percent: 80 },
  } as const
  const ids = () => server.received.map(({ raw }) => /^Message-ID:\s+(\S+)$/im.exec(raw)?.[1])

  test('a cause is mailed once within its window, with what is known of it', async () => {
    const { id, secret } = await make()
    equal(secret, null)
    await raise(parts(), cause)
    await raise(parts(), cause)
    const other = start()
    await Promise.all([deliverer.deliver(), other.deliver()])
    await other.close()
    equal(server.received.length, 1)
    const [{ raw, to } = { raw: '', to: [] }] = server.received
    deepEqual(to, [mail.to])
    match(raw, /^Subject: \[Odyssey\] A share of a budget is spent/m)
    match(raw, /^percent: 80\r$/m)
    match(raw, /https:\/\/ai\.example\.com\/o\/org_1\/alerts/)
    clock.advance(cause.windowMs)
    await raise(parts(), cause)
    await deliverer.deliver()
    equal(new Set(ids()).size, 2)
    const shown = await readChannel(parts(), operator, { organizationId, id })
    deepEqual([shown.target, shown.failures, shown.lastDeliveredAtMs], [mail.to, 0, clock.nowMs()])
  })

  test('mail that was not taken is sent again later, and nobody learns where the relay is', async () => {
    const { id } = await make()
    await raise(parts(), cause)
    refusal = Object.assign(new Error('4.2.1 Later'), { responseCode: 450 })
    await deliverer.deliver()
    await deliverer.deliver()
    match((await readChannel(parts(), operator, { organizationId, id })).lastError ?? '', /450 4\.2\.1 Later/)
    const { port } = server
    await server.close()
    clock.advance(1_000)
    await deliverer.deliver()
    const { failures, lastError } = await readChannel(parts(), operator, { organizationId, id })
    equal(failures, 2)
    ok(!lastError?.includes('127.0.0.1') && !lastError?.includes(String(port)), lastError ?? '')
    refusal = undefined
    server = await openMailServer({ refuse: () => refusal })
    await deliverer.close()
    deliverer = start()
    clock.advance(2_000)
    await deliverer.deliver()
    equal(server.received.length, 1)
  })

  test('an address that there is not is mailed no more until somebody enables it', async () => {
    const { id } = await make()
    await raise(parts(), cause)
    refusal = addressNotThere
    await deliverer.deliver()
    equal((await readChannel(parts(), operator, { organizationId, id })).disabledAtMs, clock.nowMs())
  })

  test('an address of a domain that the operator allows no more is mailed nothing, and its channel says why', async () => {
    const { id } = await make()
    await deliverer.close()
    deliverer = start({ recipientDomains: ['example.org'] })
    await raise(parts(), cause)
    await deliverer.deliver()
    equal(server.received.length, 0)
    const { failures, lastError, disabledAtMs } = await readChannel(parts(), operator, { organizationId, id })
    deepEqual(
      [failures, lastError, disabledAtMs],
      [1, 'Mail goes to addresses of example.org alone, says the operator.', null],
    )
    await deliverer.close()
    deliverer = start({ recipientDomains: ['example.com'] })
    clock.advance(1_000)
    await deliverer.deliver()
    equal(server.received.length, 1, 'It goes on once the operator allows it again.')
  })

  test('the test button sends, and no more than twenty times an hour', async () => {
    const { id } = await make({ name: 'Nächte 🌙' })
    for (let count = 0; count < 20; count += 1) await testChannel(parts(), operator, { organizationId, id })
    await rejects(testChannel(parts(), operator, { organizationId, id }), /20 tests within an hour/)
    await deliverer.deliver()
    equal(server.received.length, 20)
    match(server.received[0]?.raw ?? '', /^Subject: \[Odyssey\] This is a test/m)
  })

  test('a channel by e-mail needs a relay and one address, of a domain that the operator allows', async () => {
    const none = createChannel({ ...parts(), alertKey, mail: null }, operator, {
      organizationId,
      kind: 'email',
      name: 'x',
      address: mail.to,
      topics: ['budget.threshold'],
    })
    await rejects(none, /alerts\.mail/)
    await rejects(make({ address: 'a@b.c, d@e.f' }), /needs one address/)
    await rejects(make({ address: 'a@b.c\r\nBcc: d@e.f' }), /needs one address/)
    await rejects(make({ address: null }), /needs one address/)
    await rejects(make({}, ['example.org']), /addresses of example\.org alone/)
    await rejects(make({ topics: ['request.finished'] }), /goes to webhooks alone/)
    await make({ address: 'me@EXAMPLE.org' }, ['example.org'])
  })
})
