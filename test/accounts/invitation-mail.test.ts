// An invitation by e-mail: through a real mail server on the loopback address, on either database.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { mailedPerDayMax } from '../../src/accounts/sign-in/note-mailing.ts'
import { createMailer } from '../../src/alerts/mail.ts'
import { mailRelay } from '../../src/config/mail-schema.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../harness/management-service.ts'
import { openMailServer } from '../harness/open-mail-server.ts'
import { signInPerson, type SignedInPerson } from '../harness/sign-in.ts'
import { TestBrowser } from '../http/api/browser.ts'
import { createCompany, type Company } from '../http/api/world.ts'

const credential = { kind: 'password', password: 'correct horse battery staple' } as const
const goneFor = (address: string) =>
  address.startsWith('gone') ? Object.assign(new Error('5.1.1 No such mailbox'), { responseCode: 550 }) : undefined

onEachDatabase(({ open }) => {
  let server: Awaited<ReturnType<typeof openMailServer>>
  let service: ManagementService
  let company: Company
  let owner: SignedInPerson
  before(async () => {
    server = await openMailServer({ refuse: goneFor })
  })
  after(() => server.close())
  beforeEach(async () => {
    server.received.length = 0
    await begin()
  })
  afterEach(() => service.close())

  const begin = async (port: number | null = server.port, recipientDomains: string[] | null = null) => {
    const settings = mailRelay.parse({ host: 'localhost', port, from: 'odyssey@example.org' })
    const mailer = port === null ? null : createMailer(settings, { password: null, ca: server.certificate })
    service = await openManagementService(await open(), { mailer, mail: { recipientDomains } })
    company = await createCompany(service.accounts)
    owner = await signInPerson(service.accounts, { memberId: company.members.owner.memberId })
  }
  const beginAnew = async (port: number | null) => {
    await service.close()
    await begin(port)
  }
  const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`
  const post = ({ headers }: SignedInPerson, path: string, body?: unknown): Promise<Answer> =>
    service.ask({ method: 'POST', path: within(path), headers, body })
  const invite = (email = 'ann@example.org') => post(owner, 'invitations', { email, role: 'developer' })
  const idOf = ({ body }: Answer) => (body['invitation'] as { readonly id: string }).id
  const tokenOf = ({ body }: Answer) => String(body['link']).split('#')[1] ?? ''
  const mail = (sent: Answer, { by = owner, token = tokenOf(sent) } = {}) =>
    post(by, `invitations/${idOf(sent)}/mail`, { token })

  test('an invitation reaches its address by the relay, with a link that lets in', async () => {
    const sent = await invite()
    const answer = await mail(sent)
    deepEqual([answer.status, answer.body], [201, { mailedTo: 'ann@example.org' }], answer.text)
    const [received, ...others] = server.received
    deepEqual([received?.to, others.length], [['ann@example.org'], 0])
    const text = (received?.raw ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
    match(text, /^Subject: \[Odyssey\] You are invited to /m)
    const [, token] = /https:\/\/ai\.example\.com\/invite#(\S+)/.exec(text) ?? []
    equal(token, tokenOf(sent))
    const accepted = await new TestBrowser(service).ask('POST', 'invitations/accept', {
      token,
      name: 'Ann',
      credential,
    })
    equal(accepted.status, 200)
    const rows = await service.db
      .selectFrom('audit')
      .select('action')
      .where('action', '=', 'invitations:mail')
      .execute()
    equal(rows.length, 1)
  })

  test('an invitation is mailed with its newest link alone, and by whoever may invite to it', async () => {
    const sent = await invite()
    const again = await post(owner, `invitations/${idOf(sent)}/resend`)
    equal((await mail(sent)).status, 400)
    const developer = await signInPerson(service.accounts, { memberId: company.members.developer.memberId })
    equal((await mail(again, { by: developer })).status, 403)
    await post(owner, 'invitations', { email: 'chief@example.org', role: 'owner' }).then(async (chief) => {
      const admin = await signInPerson(service.accounts, { memberId: company.members.admin.memberId })
      equal((await mail(chief, { by: admin })).status, 403)
    })
    equal(server.received.length, 0)
    equal((await mail(again)).status, 201)
  })

  test('an invitation that has ended, or was taken back, is not mailed', async () => {
    const [ended, withdrawn] = [await invite('late@example.org'), await invite('gone@example.org')]
    await service.ask({ method: 'DELETE', path: within(`invitations/${idOf(withdrawn)}`), headers: owner.headers })
    equal((await mail(withdrawn)).status, 409)
    await service.db.updateTable('invitations').set({ ends_at: 1 }).where('email', '=', 'late@example.org').execute()
    equal((await mail(ended)).status, 409)
    equal(server.received.length, 0)
  })

  test('nobody is mailed one invitation twice within a minute, and an organization mails so many a day', async () => {
    const sent = await invite()
    deepEqual([(await mail(sent)).status, (await mail(sent)).status], [201, 409])
    service.clock.advance(61_000)
    equal((await mail(sent)).status, 201)
    const row = await service.db.selectFrom('invitations').selectAll().executeTakeFirstOrThrow()
    const others = Array.from({ length: mailedPerDayMax - 1 }, (_, index) => ({
      ...row,
      id: `inv_${index}` as const,
      link_hash: `hash ${index}`,
      email: `other${index}@example.org`,
    }))
    await service.db.insertInto('invitations').values(others).execute()
    const last = await invite('last@example.org')
    match((await mail(last)).text, /200 invitations were mailed within a day/)
    service.clock.advance(86_400_000)
    const fresh = await signInPerson(service.accounts, { memberId: company.members.owner.memberId })
    equal((await mail(last, { by: fresh })).status, 201)
  })

  test('what the relay says of a message is told to who invites, and the link goes on working', async () => {
    const sent = await invite('gone@example.org')
    const refused = await mail(sent)
    equal(refused.status, 409)
    match(refused.text, /No such mailbox/)
    const [token, name] = [tokenOf(sent), 'Gone']
    equal((await new TestBrowser(service).ask('POST', 'invitations/accept', { token, name, credential })).status, 200)
  })

  test('an address that mail may not go to is not written to, and the operator’s rule is named', async () => {
    await service.close()
    await begin(server.port, ['example.org'])
    equal((await mail(await invite())).status, 201)
    match((await mail(await invite('ann@elsewhere.example'))).text, /Mail goes to addresses of example\.org alone/)
    equal(server.received.length, 1)
  })

  test('a relay that cannot be reached is said so, with when to come again, and nothing of the network', async () => {
    const other = await openMailServer()
    await other.close()
    await beginAnew(other.port)
    const answer = await mail(await invite())
    deepEqual([answer.status, answer.headers['retry-after']], [503, '60'], answer.text)
    match(answer.text, /could not be reached/)
    equal(/ECONN|127\.0\.0\.1|localhost/.test(answer.text), false, answer.text)
  })

  test('without a relay the link is to be handed on, and pages know', async () => {
    const mails = async () => {
      const { body } = await service.ask({ path: '/api/v1/session', headers: owner.headers })
      return (body['features'] as { readonly mail: boolean }).mail
    }
    equal(await mails(), true)
    await beginAnew(null)
    equal(await mails(), false)
    match((await mail(await invite())).text, /has set no mail relay/)
  })
})
