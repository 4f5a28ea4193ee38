import { deepEqual, equal, match, notEqual, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { allowAgent } from '../../src/accounts/agents/sign-ins.ts'
import { setMemberRole } from '../../src/accounts/members.ts'
import { setMemberSuspended } from '../../src/accounts/leaving/suspend-member.ts'
import { endSessionsByProvider } from '../../src/accounts/single-sign-on/end-by-provider.ts'
import { endMemberSessions } from '../../src/accounts/sign-in/session-lists.ts'
import { findSession } from '../../src/accounts/sign-in/sessions.ts'
import { createRecoveryLink } from '../../src/accounts/sign-in/setup.ts'
import type { ConnectionId } from '../../src/core/ids.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { samePage, signInPerson } from '../harness/sign-in.ts'
import type { Answer } from '../harness/management-service.ts'
import { openSso, type Sso } from './open-sso.ts'

const operator = { kind: 'operator' } as const
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

type Headers = Readonly<Record<string, string>>
type Tokens = { readonly access: string; readonly refresh: string }

onEachDatabase((database) => {
  let sso: Sso
  let person: Headers

  beforeEach(async () => {
    sso = await openSso(await database.open())
    person = (await signInPerson(sso.service.accounts, { memberId: developer().memberId })).headers
  })
  afterEach(() => sso.close())

  const developer = () => sso.company.members.developer
  const place = () => ({ organizationId: sso.company.organizationId, projectId: sso.company.projectId })

  async function post(path: string, fields: Record<string, string> = {}, address = '192.0.2.1'): Promise<Answer> {
    const {
      statusCode: status,
      headers,
      body: text,
    } = await sso.service.app.inject({
      method: 'POST',
      url: path,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'claude-code/2.1.330' },
      payload: new URLSearchParams(fields).toString(),
      remoteAddress: address,
    })
    return { status, headers, text, body: JSON.parse(text) as Record<string, unknown> }
  }

  async function begin(): Promise<{ readonly device: string; readonly code: string }> {
    const { body } = await post('/oauth/device_authorization', { surface: 'claude_code' })
    return { device: String(body['device_code']), code: String(body['user_code']) }
  }

  const exchange = (device_code: string) => post('/oauth/token', { grant_type: deviceGrant, device_code })
  const refresh = (refresh_token: string) => post('/oauth/token', { grant_type: 'refresh_token', refresh_token })
  const me = (path: string, body: unknown, headers = person) =>
    sso.service.ask({ method: 'POST', path: `/api/v1/me/agents${path}`, headers, body })
  const allow = (code: string, headers = person) => me('', { code, ...place() }, headers)

  function read({ status, text, body }: Answer): Tokens {
    equal(status, 200, text)
    return { access: String(body['access_token']), refresh: String(body['refresh_token']) }
  }

  async function signIn(headers = person): Promise<Tokens> {
    const { device, code } = await begin()
    const allowed = await allow(code, headers)
    equal(allowed.status, 204, allowed.text)
    return read(await exchange(device))
  }

  const question = { model: 'clarke-1.0', max_tokens: 16, messages: [{ role: 'user', content: 'Hello' }] }
  const ask = (key: string) => sso.service.ask({ method: 'POST', path: '/v1/messages', key, body: question })

  const connectedParts = () => ({ ...sso.service.accounts, signIn: testSignIn })

  test('every agent of a person ends with their sessions: when they end all others, and by the link of an owner', async () => {
    const { accounts } = sso.service
    const { user, headers } = await signInPerson(accounts, { memberId: developer().memberId })
    const ways = [
      () => sso.service.ask({ method: 'DELETE', path: '/api/v1/sessions', headers }),
      async () => {
        const token = await createRecoveryLink(accounts, user.userId)
        const credential = { kind: 'password', password: 'correct horse battery staple' }
        const body = { token, credential }
        return sso.service.ask({ method: 'POST', path: '/api/v1/session/link', headers: samePage, body })
      },
    ]
    for (const way of ways) {
      const { access, refresh: next } = await signIn(headers)
      equal((await ask(access)).status, 200)
      const ended = await way()
      equal(ended.status < 300, true, ended.text)
      deepEqual([(await refresh(next)).body, (await ask(access)).status], [{ error: 'invalid_grant' }, 401])
    }
  })

  test('an agent whose code its person allows asks models under the person’s own key, and its code is used up', async () => {
    const { device, code } = await begin()
    match(code, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
    deepEqual((await exchange(device)).body, { error: 'authorization_pending' })
    const seen = await me('/look', { code: code.toLowerCase().replace('-', '') })
    deepEqual([seen.body['client'], seen.body['address']], ['claude-code/2.1.330', '192.0.2.1'])
    equal((await allow(code)).status, 204)
    const answer = await exchange(device)
    const { access } = read(answer)
    deepEqual([answer.body['token_type'], answer.body['expires_in']], ['Bearer', 3_600])
    match(String(answer.body['email']), /@/)
    equal((await ask(access)).status, 200)
    deepEqual((await exchange(device)).body, { error: 'invalid_grant' })
    equal((await allow(code)).status, 404)
    const key = await sso.service.db.selectFrom('api_keys').selectAll().where('kind', '=', 'agent').executeTakeFirst()
    deepEqual([key?.owner_id, key?.project_id], [developer().memberId, place().projectId])
    const row = await sso.service.db.selectFrom('ledger').selectAll().executeTakeFirstOrThrow()
    equal(row.api_key_id, key?.id)
  })

  test('two exchanges of one allowed code at once give tokens once', async () => {
    const { device, code } = await begin()
    await allow(code)
    const answers = await Promise.all([exchange(device), exchange(device), exchange(device)])
    deepEqual(
      answers.map(({ status }) => status).toSorted((one, other) => one - other),
      [200, 400, 400],
    )
  })

  test('an agent that asks too soon is told to slow down, and one that was turned away or waited too long gets nothing', async () => {
    const first = await begin()
    await exchange(first.device)
    deepEqual((await exchange(first.device)).body, { error: 'slow_down' })
    sso.service.clock.advance(5_000)
    deepEqual((await exchange(first.device)).body, { error: 'authorization_pending' })
    equal((await me('/deny', { code: first.code })).status, 204)
    deepEqual((await exchange(first.device)).body, { error: 'access_denied' })
    const late = await begin()
    sso.service.clock.advance(600_000)
    person = (await signInPerson(sso.service.accounts, { memberId: developer().memberId })).headers
    deepEqual((await exchange(late.device)).body, { error: 'expired_token' })
    equal((await allow(late.code)).status, 404)
    for (const nobodys of ['x'.repeat(43), 'short']) {
      deepEqual((await exchange(nobodys)).body, { error: 'invalid_grant' })
      equal((await refresh(nobodys)).status, 401)
    }
  })

  test('an address has thirty agents that wait at a time, and another one is not held up by them', async () => {
    for (let count = 0; count < 30; count++) equal((await post('/oauth/device_authorization')).status, 200)
    const { status, body } = await post('/oauth/device_authorization')
    deepEqual([status, body], [429, { error: 'slow_down' }])
    equal((await post('/oauth/device_authorization', {}, '192.0.2.2')).status, 200)
  })

  test('agents that were allowed or turned away wait no more, and make room for others of their address', async () => {
    const begun = []
    for (let count = 0; count < 30; count++) begun.push(await begin())
    for (const [index, { code }] of begun.slice(0, 2).entries()) {
      equal((await (index === 0 ? allow(code) : me('/deny', { code }))).status, 204)
    }
    const statuses = []
    for (let count = 0; count < 3; count++) statuses.push((await post('/oauth/device_authorization')).status)
    deepEqual(statuses, [200, 200, 429])
  })

  test('a network of IPv6 has no more agents that wait than one address, however its addresses are written', async () => {
    const addresses = ['2001:db8::', '2001:db8:0:0:1::', '2001:db8::1:0:0:', '2001:db8::2:3:4:']
    for (let count = 0; count < 30; count++) {
      const address = `${addresses[count % addresses.length]}${count + 1}`
      equal((await post('/oauth/device_authorization', {}, address)).status, 200)
    }
    equal((await post('/oauth/device_authorization', {}, '2001:db8::ffff')).status, 429)
    equal((await post('/oauth/device_authorization', {}, '2001:db8:0:1::1')).status, 200)
  })

  test('an agent is not allowed in a session that has ended meanwhile, and its person is told to sign in', async () => {
    const { code } = await begin()
    const { db } = sso.service
    const token = /odyssey=([\w-]+)/.exec(person['cookie'] ?? '')?.[1] ?? ''
    const session = await findSession(connectedParts(), token, { keepsAwake: false })
    await db
      .deleteFrom('sessions')
      .where('id', '=', session?.id ?? 'ses_none')
      .execute()
    if (session === null) throw new Error('Nobody is signed in.')
    await rejects(allowAgent(connectedParts(), session, { code, ...place() }), { code: 'unauthenticated' })
    const { state } = await db.selectFrom('agent_sign_ins').select('state').executeTakeFirstOrThrow()
    equal(state, 'waiting')
  })

  test('a code is allowed by nobody but a member who may use models in the project, and in no other organization', async () => {
    const { code } = await begin()
    const auditor = await signInPerson(sso.service.accounts, { memberId: sso.company.members.auditor.memberId })
    const stranger = await signInPerson(sso.service.accounts, {})
    equal((await allow(code, auditor.headers)).status, 403)
    equal((await allow(code, stranger.headers)).status, 404)
    deepEqual((await me('/look', { code }, stranger.headers)).body['projects'], [])
    const offered = (await me('/look', { code })).body['projects'] as { readonly projectId: string }[]
    deepEqual(
      offered.map(({ projectId }) => projectId),
      [sso.company.projectId],
    )
    equal((await me('', { code, ...place(), projectId: sso.company.siblingId })).status, 404)
    equal(
      (await sso.service.ask({ method: 'POST', path: '/api/v1/me/agents', headers: {}, body: { code, ...place() } }))
        .status,
      401,
    )
    const foreign = { ...person, 'sec-fetch-site': 'cross-site' }
    notEqual((await allow(code, foreign)).status, 204)
    equal((await sso.service.db.selectFrom('api_keys').select('id').where('kind', '=', 'agent').execute()).length, 0)
    equal((await allow(code)).status, 204)
  })

  test('a token is good for an hour, and the next two are fetched with the one beside it', async () => {
    const first = await signIn()
    const second = read(await refresh(first.refresh))
    notEqual(second.refresh, first.refresh)
    equal((await ask(first.access)).status, 200)
    equal((await ask(second.access)).status, 200)
    sso.service.clock.advance(3_600_000)
    const over = await ask(first.access)
    deepEqual([over.status, over.headers['x-should-retry']], [401, 'false'])
    equal((await ask(read(await refresh(second.refresh)).access)).status, 200)
  })

  test('a second process of an agent may exchange the same token, and whoever brings it later signs the agent out', async () => {
    const first = await signIn()
    const [one, other] = [read(await refresh(first.refresh)), read(await refresh(first.refresh))]
    deepEqual([(await ask(one.access)).status, (await ask(other.access)).status], [200, 200])
    sso.service.clock.advance(60_001)
    const stolen = await refresh(first.refresh)
    deepEqual([stolen.status, stolen.body], [401, { error: 'invalid_grant' }])
    deepEqual([(await ask(one.access)).status, (await ask(other.access)).status], [401, 401])
    equal((await refresh(one.refresh)).status, 401)
  })

  test('tokens of a sign-in are fetched a hundred times an hour, and a used one among them still signs it out', async () => {
    const first = await signIn()
    let newest = first
    for (let count = 1; count < 100; count++) newest = read(await refresh(newest.refresh))
    const { status, body } = await refresh(newest.refresh)
    deepEqual([status, body], [429, { error: 'slow_down' }])
    equal((await ask(newest.access)).status, 200)
    const rows = await sso.service.db.selectFrom('agent_tokens').select('kind').execute()
    equal(rows.length, 200)
    sso.service.clock.advance(3_600_000)
    newest = read(await refresh(newest.refresh))
    equal((await refresh(first.refresh)).status, 401)
    deepEqual([(await ask(newest.access)).status, (await refresh(newest.refresh)).status], [401, 401])
  })

  test('an agent is signed in for no longer than a person would be', async () => {
    let tokens = await signIn()
    for (let hours = 0; hours < 12; hours++) {
      sso.service.clock.advance(3_599_000)
      tokens = read(await refresh(tokens.refresh))
    }
    sso.service.clock.advance(12_000)
    deepEqual([(await ask(tokens.access)).status, (await refresh(tokens.refresh)).status], [401, 401])
  })

  test('the next request of an agent is refused once its person is suspended, and it stays signed out after', async () => {
    const { access, refresh: next } = await signIn()
    const reference = { id: developer().memberId, organizationId: place().organizationId }
    await setMemberSuspended(sso.service.accounts, operator, reference, true)
    deepEqual([(await ask(access)).status, (await refresh(next)).status], [401, 401])
    await setMemberSuspended(sso.service.accounts, operator, reference, false)
    deepEqual([(await ask(access)).status, (await refresh(next)).status], [401, 401])
    person = (await signInPerson(sso.service.accounts, { memberId: developer().memberId })).headers
    equal((await ask((await signIn()).access)).status, 200)
  })

  test('a member who may use models no more gets no next tokens', async () => {
    const { refresh: next } = await signIn()
    const setDisabled = (disabled_at: number | null) =>
      sso.service.db.updateTable('users').set({ disabled_at }).execute()
    await setDisabled(1)
    equal((await refresh(next)).status, 401)
    await setDisabled(null)
    const { refresh: after } = read(await refresh(next))
    const reference = { id: developer().memberId, organizationId: place().organizationId }
    await setMemberRole(sso.service.accounts, operator, reference, 'billing')
    equal((await refresh(after)).status, 401)
  })

  test('an organization that is entered by its own connection alone gives no next tokens to whom it did not vouch for', async () => {
    const { refresh: next } = await signIn()
    const id = await sso.connect()
    await vouch(id, 'ses-1')
    const vouched = await signIn()
    await sso.service.db
      .updateTable('connections')
      .set({ enforced_at: sso.service.clock.nowMs() })
      .where('id', '=', id)
      .execute()
    equal((await refresh(next)).status, 401)
    equal((await refresh(vouched.refresh)).status, 200)
  })

  /** From now on a provider vouches for the person's session. */
  async function vouch(connection_id: ConnectionId, sso_session: string): Promise<void> {
    const { user_id } = await sso.service.db
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', developer().memberId)
      .executeTakeFirstOrThrow()
    const vouched = { connection_id, sso_subject: 'ann', sso_session }
    await sql`update sessions set connection_id = ${vouched.connection_id}, sso_subject = ${vouched.sso_subject},
      sso_session = ${vouched.sso_session} where user_id = ${user_id}`.execute(sso.service.db)
  }

  test('the agents that were allowed in a session which a provider ends are signed out, and no others', async () => {
    const id = await sso.connect()
    const own = await signIn()
    await vouch(id, 'ses-1')
    const ended = await signIn()
    await vouch(id, 'ses-2')
    const other = await signIn()
    const connection = await sso.service.db
      .selectFrom('connections')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const parts = { ...connectedParts(), sso: null as never }
    const word = {
      messageId: 'logout',
      endsAtMs: sso.service.clock.nowMs() + 60_000,
      subject: 'ann',
      sessions: ['ses-1'],
    }
    await endSessionsByProvider(parts, connection, { ...word, repeated: 'token-invalid' })
    const asked = await Promise.all([ended, other, own].map(({ access }) => ask(access)))
    deepEqual(
      asked.map(({ status }) => status),
      [401, 200, 200],
    )
  })

  test('whoever ends all sessions of a member signs their agents out', async () => {
    const { access } = await signIn()
    const { organizationId } = place()
    await endMemberSessions(connectedParts(), operator, { organizationId, memberId: developer().memberId, id: null })
    equal((await ask(access)).status, 401)
  })

  test('people see the agents that they are signed in to, and sign them out; so does an agent itself', async () => {
    const [first, second, third] = [await signIn(), await signIn(), await signIn()]
    equal((await post('/oauth/revoke', { token: third.access })).status, 200)
    equal((await ask(third.access)).status, 401)
    const list = async () => {
      const { body } = await sso.service.ask({ path: '/api/v1/me/agents', headers: person })
      return (body['data'] as { id: string; client: string }[]).map(({ id }) => id)
    }
    const ids = await list()
    equal(ids.length, 2)
    equal((await post('/oauth/revoke', { token: second.refresh, token_type_hint: 'refresh_token' })).status, 200)
    equal((await post('/oauth/revoke', { token: 'of nobody' })).status, 200)
    deepEqual([(await ask(first.access)).status, (await ask(second.access)).status], [200, 401])
    const [left] = await list()
    const end = (headers: Headers) => sso.service.ask({ method: 'DELETE', path: `/api/v1/me/agents/${left}`, headers })
    equal((await end((await signInPerson(sso.service.accounts, {})).headers)).status, 404)
    equal((await end(person)).status, 204)
    equal((await ask(first.access)).status, 401)
  })

  test('an agent is told the models of this service and what its organization and project set, and asks again cheaply', async () => {
    const { access } = await signIn()
    const look = (headers: Headers = {}) => sso.service.ask({ path: '/managed/settings', key: access, headers })
    const usual = (await look()).body['settings'] as { env: Record<string, string> }
    equal(usual.env['ANTHROPIC_MODEL'], 'clarke-1.0')
    const data = [
      { projectId: null, settings: { permissions: { deny: ['WebFetch'] }, env: { A: 'all', B: 'all' } } },
      { projectId: place().projectId, settings: { env: { B: 'project' } } },
      { projectId: sso.company.siblingId, settings: { env: { A: 'sibling' } } },
    ]
    const path = `/api/v1/organizations/${place().organizationId}/agent-settings`
    const set = await sso.service.ask({ method: 'PUT', path, key: sso.service.key, body: { data } })
    equal(set.status, 200, set.text)
    const { headers, body } = await look()
    const { env, permissions } = body['settings'] as typeof usual & { permissions: unknown }
    deepEqual([env['A'], env['B'], env['ANTHROPIC_MODEL']], ['all', 'project', 'clarke-1.0'])
    deepEqual(permissions, { deny: ['WebFetch'] })
    equal(headers['etag'], `"${String(body['checksum'])}"`)
    equal((await look({ 'if-none-match': String(headers['etag']) })).status, 304)
    equal((await look({ 'if-none-match': '"other"' })).status, 200)
    const twice = { data: [data[0], data[0]] }
    equal((await sso.service.ask({ method: 'PUT', path, key: sso.service.key, body: twice })).status, 400)
    equal((await sso.service.ask({ path: '/managed/settings' })).status, 401)
  })

  test('what an agent needs to know stands where it looks, and its telemetry is taken with its token alone', async () => {
    const { body } = await sso.service.ask({ path: '/.well-known/oauth-authorization-server' })
    equal(body['device_authorization_endpoint'], 'https://ai.example.com/oauth/device_authorization')
    match((await sso.service.ask({ path: '/protocol' })).text, /device_authorization/)
    const { access } = await signIn()
    const tell = (key?: string) => sso.service.ask({ method: 'POST', path: '/v1/metrics', key, body: {} })
    deepEqual([(await tell(access)).status, (await tell()).status], [200, 401])
    equal((await sso.service.ask({ path: '/api/v1/organizations', key: access })).status, 401)
  })

  test('neither tokens nor codes stand in the database or the audit', async () => {
    const { device, code } = await begin()
    await allow(code)
    const { access, refresh: next } = read(await exchange(device))
    const tables = ['agent_sign_ins', 'agent_tokens', 'audit', 'api_keys'] as const
    const rows = await Promise.all(tables.map((table) => sso.service.db.selectFrom(table).selectAll().execute()))
    const text = JSON.stringify(rows)
    for (const secret of [device, code, access, next]) equal(text.includes(secret), false)
  })
})
