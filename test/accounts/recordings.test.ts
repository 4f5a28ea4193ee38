// What is said in requests is kept where an owner has asked for it, for as long as was said, and for whom it is.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { createManagementKey } from '../../src/accounts/management-keys.ts'
import { createMember } from '../../src/accounts/members.ts'
import { createOrganization, ensureDefaultHome } from '../../src/accounts/organizations.ts'
import { setProjectMember } from '../../src/accounts/projects.ts'
import { contentLengthMax, createRecorder, writesMax } from '../../src/accounts/recordings/recorder.ts'
import {
  deleteOverRecordings,
  deleteProjectRecordings,
  readProjectRecording,
  readRecording,
  setProjectRecording,
} from '../../src/accounts/recordings/recordings.ts'
import { ApiError } from '../../src/core/error.ts'
import type { RequestId } from '../../src/core/ids.ts'
import type { MemberPrincipal } from '../../src/core/principal.ts'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import type { Database } from '../../src/db/database.ts'
import type { RecordingTable } from '../../src/db/tables/accounts.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { ask, bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { until } from '../harness/start-service.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000
const key = new Uint8Array(32).fill(5)
const secret = 'The word is plover.'

const steps: readonly FakeStep[] = [
  { kind: 'block', block: { kind: 'thinking' }, texts: ['Let me ', 'see.'] },
  { kind: 'block', block: { kind: 'text' }, texts: ['It is ', 'here.'] },
  { kind: 'block', block: { kind: 'tool-call', id: 'call_1', name: 'look_up' }, texts: ['{"word":', '"plover"}'] },
  { kind: 'end', reason: { kind: 'tool-calls' } },
]
const answered = [
  {
    blocks: [
      { kind: 'thinking', text: 'Let me see.' },
      { kind: 'text', text: 'It is here.' },
      { kind: 'tool-call', id: 'call_1', name: 'look_up', text: '{"word":"plover"}' },
    ],
    reason: 'tool-calls',
  },
]

describe('a project', () => {
  let service: FakeService
  let script: readonly FakeStep[]
  beforeEach(async () => {
    script = steps
    service = await startFakeService({ script: () => script })
  })
  afterEach(() => service.close())

  const switchOn = (untilMs: number | null = Date.now() + dayMs, days = 7) =>
    setProjectRecording(service.accounts, operator, service.home, untilMs === null ? null : { untilMs, days })
  const body = (format: Format, fields = {}) =>
    bodyFor(format, { messages: [{ role: 'user', content: secret }], ...fields })
  const send = async (format: Format, fields = {}) => {
    const sent = { method: 'POST', body: JSON.stringify(body(format, fields)) }
    const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
    const response = await fetch(`${service.address}${paths[format]}`, { ...sent, headers })
    // Of an answer that breaks off the connection is cut.
    await response.text().catch(() => {})
    return {
      status: response.status,
      requestId: response.headers.get(format === 'chat' ? 'x-request-id' : 'request-id') as RequestId,
    }
  }
  const rows = () => service.db.selectFrom('recordings').selectAll().execute()
  const rowOf = (requestId: RequestId) =>
    until(async () => (await rows()).find((row) => row.request_id === requestId), 'Nothing was kept.')
  const read = (requestId: RequestId) => readRecording(service.accounts, operator, key, requestId)

  for (const format of formats) {
    for (const stream of [false, true]) {
      const how = stream ? 'streamed' : 'whole'
      test(`has what is said in ${format}, ${how}, kept as it came and as it was answered`, async () => {
        await switchOn()
        const { status, requestId } = await send(format, { stream })
        equal(status, 200)
        const row = await rowOf(requestId)
        ok(!JSON.stringify(row).includes('plover'), 'It is sealed.')
        equal(row.bytes, row.content?.length)
        const { state, endsAtMs, content } = await read(requestId)
        equal(state, 'kept')
        equal(endsAtMs, row.at + 7 * dayMs)
        equal(content?.protocol, format === 'chat' ? 'chat-completions' : 'messages')
        deepEqual(JSON.parse(content?.body ?? ''), body(format, { stream }))
        deepEqual(content?.answers, answered)
      })
    }
  }

  test('keeps each of several answers', async () => {
    await switchOn()
    const { requestId } = await send('chat', { n: 2 })
    await rowOf(requestId)
    deepEqual((await read(requestId)).content?.answers, [...answered, ...answered])
  })

  test('keeps an answer that breaks off up to there, without a reason', async () => {
    await switchOn()
    script = [
      { kind: 'block', block: { kind: 'text' }, texts: ['It was'], isLeftOpen: true },
      { kind: 'fail', error: new Error('It broke.') },
    ]
    const { requestId } = await send('messages', { stream: true })
    await rowOf(requestId)
    deepEqual((await read(requestId)).content?.answers, [{ blocks: [{ kind: 'text', text: 'It was' }], reason: null }])
  })

  test('has nothing kept before it is switched on, once it is off, and when its time is over', async () => {
    await send('chat')
    await switchOn()
    await switchOn(null)
    await send('chat')
    await switchOn(Date.now() + 300)
    await new Promise((resolve) => setTimeout(resolve, 350))
    await send('chat')
    await switchOn()
    await rowOf((await send('chat')).requestId)
    equal((await rows()).length, 1)
  })

  test('has nothing of other projects kept, and nothing of what was refused', async () => {
    await switchOn()
    const other = await createOrganization(service.accounts, operator, { name: 'Other' })
    const { key: foreign } = await createApiKey(service.accounts, operator, { name: 'k', ...other })
    equal((await ask(service as never, paths.chat, { body: body('chat'), key: foreign })).status, 200)
    equal((await send('chat', { model: 'gpt-4' })).status, 404)
    await rowOf((await send('chat')).requestId)
    equal((await rows()).length, 1)
  })

  test('has a body kept that is large enough to be decoded in a thread', async () => {
    await switchOn()
    const content = `${secret} `.repeat(50_000)
    const { requestId } = await send('messages', { messages: [{ role: 'user', content }] })
    await rowOf(requestId)
    const kept = JSON.parse((await read(requestId)).content?.body ?? '') as { messages: { content: string }[] }
    equal(kept.messages[0]?.content, content)
  })

  test('is told which requests were too large', async () => {
    await switchOn()
    const large = [{ role: 'user', content: 'x'.repeat(contentLengthMax) }]
    const { status, requestId } = await send('chat', { messages: large })
    equal(status, 200)
    const { state, bytes, content } = await rowOf(requestId)
    deepEqual({ state, bytes, content }, { state: 'too-large', bytes: 0, content: null })
    equal((await read(requestId)).content, null)
  })

  test('has its recordings deleted when their days are over, and nobody reads them from that moment on', async () => {
    await switchOn(Date.now() + dayMs, 1)
    const { requestId } = await send('chat')
    const { ends_at } = await rowOf(requestId)
    await deleteOverRecordings(service.db, ends_at - 1)
    equal((await rows()).length, 1)
    const late = { ...service.accounts, clock: { ...systemClock, nowMs: () => ends_at } }
    await rejects(readRecording(late, operator, key, requestId), (error) => (error as ApiError).code === 'not-found')
    await deleteOverRecordings(service.db, ends_at)
    equal((await rows()).length, 0)
  })

  test('cannot be recorded for more than a month, nor until a time that is over', async () => {
    for (const untilMs of [Date.now() - 1, Date.now() + 31 * dayMs]) {
      await rejects(switchOn(untilMs), (error) => error instanceof ApiError && error.reason.code === 'invalid-request')
    }
  })

  test('shows each request to whoever’s key it was, to admins and owners, and to nobody else', async () => {
    await switchOn()
    const { organizationId, projectId } = service.home
    const member = async (role: MemberPrincipal['role']): Promise<MemberPrincipal> => {
      const person = { email: `${crypto.randomUUID()}@example.com`, name: 'Me', role }
      const memberId = await createMember(service.accounts, operator, { organizationId, ...person })
      const shown = { id: projectId, organizationId, memberId, maySee: true }
      await setProjectMember(service.accounts, operator, shown)
      return { kind: 'member', memberId, organizationId, role, projectIds: [projectId] }
    }
    const me = await member('developer')
    const own = await createApiKey(service.accounts, operator, { name: 'k', ...service.home, ownerId: me.memberId })
    const { headers } = await ask(service as never, paths.chat, { body: body('chat'), key: own.key })
    const requestId = headers.get('x-request-id') as RequestId
    await rowOf(requestId)
    const readers = [await member('owner'), await member('admin'), me]
    for (const principal of readers) {
      equal((await readRecording(service.accounts, principal, key, requestId)).state, 'kept')
    }
    const others = [await member('developer'), await member('auditor'), await member('billing')]
    for (const principal of others) {
      await rejects(readRecording(service.accounts, principal, key, requestId), ApiError)
    }
    const audited = await service.db
      .selectFrom('audit')
      .select(['actor', 'target'])
      .where('action', '=', 'recordings:read')
      .orderBy('sequence')
      .execute()
    deepEqual(
      audited.map(({ actor, target }) => [actor, target]),
      readers.map(({ memberId }) => [memberId, requestId]),
    )
  })

  test('is switched on and off, and emptied, over the API by an owner alone', async () => {
    const { organizationId, projectId } = service.home
    const path = `/api/v1/organizations/${organizationId}/projects/${projectId}/recording`
    const keys = new Map<string, string>()
    for (const role of ['owner', 'admin'] as const) {
      const wanted = { name: role, role, organizationId, expiresAtMs: null }
      keys.set(role, (await createManagementKey(service.accounts, operator, wanted)).key)
    }
    const installation = { name: 'all', role: 'owner', organizationId: null, expiresAtMs: null } as const
    keys.set('installation', (await createManagementKey(service.accounts, operator, installation)).key)
    const call = (who: string, method: string, to: string, content?: unknown) =>
      ask(service as never, to, {
        method,
        key: keys.get(who) ?? null,
        ...(content !== undefined && { body: content, headers: { 'content-type': 'application/json' } }),
      })
    const on = { isOn: true, days: 3, endsAt: new Date(Date.now() + dayMs).toISOString() }
    for (const who of ['admin', 'installation']) {
      equal((await call(who, 'PUT', path, on)).status, 403, who)
      equal((await call(who, 'DELETE', `${path}/requests`)).status, 403, who)
    }
    equal((await call('owner', 'PUT', path, { ...on, days: 31 })).status, 400)
    const { kept: _, ...shown } = (await call('owner', 'PUT', path, on)).json()
    deepEqual(shown, on)
    const { requestId } = await send('messages')
    const { bytes } = await rowOf(requestId)
    deepEqual((await call('admin', 'GET', path)).json()['kept'], { requests: 1, bytes })
    const recording = `/api/v1/organizations/${organizationId}/requests/${requestId}/recording`
    equal((await call('installation', 'GET', recording)).status, 403)
    const told = (await call('admin', 'GET', recording)).json()
    deepEqual([told['state'], told['protocol'], told['answers']], ['kept', 'messages', answered])
    match(String(told['body']), /plover/)
    const stateTo = async (who: string) => (await call(who, 'GET', `/api/v1/requests/${requestId}`)).json()['recording']
    deepEqual(await stateTo('admin'), { state: 'kept', endsAt: told['endsAt'] })
    equal(await stateTo('installation'), null)
    equal((await call('owner', 'DELETE', `${path}/requests`)).status, 204)
    equal((await rows()).length, 0)
    equal((await call('admin', 'GET', recording)).status, 404)
    deepEqual((await call('owner', 'PUT', path, { isOn: false })).json(), {
      isOn: false,
      days: 3,
      endsAt: null,
      kept: { requests: 0, bytes: 0 },
    })
  })

  test('has nothing kept where whoever runs the installation lets nothing be', async () => {
    const { db, accounts, home } = service
    const recorder = createRecorder({ isEnabled: false, db, key, clock: systemClock, log: createLog('silent') })
    const recorded = { untilMs: Date.now() + dayMs, days: 1 }
    const principal = { kind: 'api-key', apiKeyId: 'key_1', ...home, recorded } as const
    equal(recorder.bodyBytesMax(principal), null)
    const request = { requestId: 'req_1', principal, protocol: 'messages', body: new Uint8Array(1) } as const
    equal(recorder.begin(request), null)
    await recorder.close()
    const other = await startFakeService({}, {}, { management: { recordingKey: null } })
    try {
      const { organizationId, projectId } = other.home
      const wanted = { name: 'owner', role: 'owner', organizationId, expiresAtMs: null } as const
      const { key: managementKey } = await createManagementKey(other.accounts, operator, wanted)
      const path = `/api/v1/organizations/${organizationId}/projects/${projectId}/recording`
      const put = (body: unknown) =>
        fetch(other.address + path, {
          method: 'PUT',
          headers: { authorization: `Bearer ${managementKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      equal((await put({ isOn: true, days: 1, endsAt: new Date(Date.now() + dayMs).toISOString() })).status, 409)
      equal((await put({ isOn: false })).status, 200)
    } finally {
      await other.close()
    }
    equal((await accounts.db.selectFrom('recordings').select('request_id').execute()).length, 0)
  })

  test('loses what cannot be written, and no request', async () => {
    await switchOn()
    await service.db.schema.dropTable('recordings').execute()
    for (const format of formats) equal((await send(format)).status, 200)
  })
})

test('more than may be held at once is not kept, and what is let go makes room again', async () => {
  const service = await startFakeService({})
  try {
    const { db, home } = service
    const recorder = createRecorder({ isEnabled: true, db, key, clock: systemClock, log: createLog('silent') })
    const principal = { kind: 'api-key', apiKeyId: 'key_1', ...home } as const
    const recorded = { untilMs: Date.now() + dayMs, days: 1 }
    const bytes = new Uint8Array(contentLengthMax).fill(120)
    const begin = (number: number) =>
      recorder.begin({
        requestId: `req_${number}`,
        principal: { ...principal, recorded },
        protocol: 'messages',
        body: bytes,
      })
    const all = Array.from({ length: 9 }, (_, number) => begin(number))
    for (const recording of all) recording?.end()
    await until(async () => (await db.selectFrom('recordings').select('state').execute()).length === 9, 'Not written.')
    begin(9)?.end()
    await recorder.close()
    const rows = await db.selectFrom('recordings').select(['request_id', 'state']).orderBy('request_id').execute()
    deepEqual(
      rows.flatMap(({ request_id, state }) => (state === 'kept' ? [] : [`${request_id} ${state}`])),
      ['req_8 no-room'],
    )
    equal(rows.length, 10)
  } finally {
    await service.close()
  }
})

test('no more is kept while a thousand rows wait for a database that answers nothing', async () => {
  const answered = Promise.withResolvers<undefined>()
  const values = { values: () => ({ execute: () => answered.promise }) }
  const db = { insertInto: () => values } as unknown as Database
  const recorder = createRecorder({ isEnabled: true, db, key, clock: systemClock, log: createLog('silent') })
  const recorded = { untilMs: Date.now() + dayMs, days: 1 }
  const place = { organizationId: 'org_1', projectId: 'proj_1', recorded } as const
  const principal = { kind: 'api-key', apiKeyId: 'key_1', ...place } as const
  const begin = (number: number) =>
    recorder.begin({ requestId: `req_${number}`, principal, protocol: 'messages', body: new Uint8Array(1) })
  for (let number = 0; number < writesMax; number++) begin(number)?.end()
  equal(begin(writesMax), null)
  answered.resolve(undefined)
  await until(() => Promise.resolve(begin(writesMax + 1) ?? undefined), 'Nothing is kept any more.')
  await recorder.close()
})

onEachDatabase((database) => {
  test('recordings are counted by project, and deleted by their end or all together', async () => {
    const db = await database.open()
    try {
      const parts = { db, clock: systemClock, hashSecret: new Uint8Array(32) }
      const { organizationId, projectId } = await ensureDefaultHome(parts)
      const at = Date.now()
      const add = async (from: number, count: number, of: Partial<RecordingTable>) => {
        for (let number = from; number < from + count; number++) {
          const ids = { request_id: `req_${number}`, organization_id: organizationId, project_id: projectId } as const
          const row = { at, ends_at: at + dayMs, state: 'kept', bytes: 7, content: 'sealed!' } as const
          await db
            .insertInto('recordings')
            .values({ ...ids, ...row, ...of })
            .execute()
        }
      }
      await add(0, 205, { ends_at: at - 1 })
      await add(300, 3, {})
      await add(400, 2, { project_id: 'proj_other' })
      const readKept = async () => (await readProjectRecording(parts, operator, { organizationId, projectId })).kept
      deepEqual(await readKept(), { requests: 3, bytes: 21 })
      await deleteOverRecordings(db, at)
      const left = async () => (await db.selectFrom('recordings').select('request_id').execute()).length
      equal(await left(), 5)
      await deleteProjectRecordings(parts, operator, { organizationId, projectId })
      deepEqual([await readKept(), await left()], [{ requests: 0, bytes: 0 }, 2])
    } finally {
      await db.destroy()
    }
  })
})
