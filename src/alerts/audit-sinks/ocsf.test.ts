import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../../accounts/audit/read-audit.ts'
import { checkpointToOcsf, toOcsf } from './ocsf.ts'

const product = { version: '1.2.3', host: 'log.example' }
const entry: AuditEntry = {
  id: 'audit_1',
  sequence: 7,
  at: '2026-11-02T08:00:00.000Z',
  organization: 'org_1',
  actor: 'usr_1',
  action: 'api-keys:rotate',
  target: 'key_1',
  before: null,
  after: { name: 'new' },
  address: '192.0.2.1',
  requestId: 'req_1',
  hash: 'ab',
}

// Whatever is in an event, as far as the tests go into it.
type Event = Record<string, any> // eslint-disable-line typescript/no-explicit-any

/** What version 1.9.0 of the schema asks of the classes, and which numbers of activities they know. */
const required: Readonly<Record<number, { readonly attributes: readonly string[]; readonly activities: number }>> = {
  3002: { attributes: ['user', 'service'], activities: 7 },
  3007: { attributes: ['user'], activities: 19 },
  6003: { attributes: ['actor', 'api', 'src_endpoint'], activities: 4 },
}
/** What each class has for an activity that it does not name. */
const otherActivity = 99
const ofAll = ['activity_id', 'category_uid', 'class_uid', 'metadata', 'severity_id', 'time', 'type_uid']

function check(event: Event, classUid: number): void {
  const { attributes, activities } = required[classUid] ?? { attributes: [], activities: 0 }
  equal(event['class_uid'], classUid)
  for (const name of [...ofAll, ...attributes]) ok(event[name] !== undefined, `${name} is missing.`)
  equal(event['category_uid'], Math.floor(classUid / 1_000))
  equal(event['type_uid'], classUid * 100 + event['activity_id'])
  const isKnown = event['activity_id'] >= 1 && event['activity_id'] <= activities
  ok(isKnown || (event['activity_id'] === otherActivity && event['activity_name'] === 'Other'), 'This is no activity.')
  equal(event['metadata'].version, '1.9.0')
  equal(event['metadata'].product.name, 'Odyssey')
  equal(event['metadata'].tenant_uid, 'org_1')
  ok(Number.isInteger(event['time']))
}

test('each action becomes an event of the class for it, with what the class requires', () => {
  const kinds: readonly [string, number, string, string][] = [
    ['sessions:create', 3002, 'Logon', 'Success'],
    ['sessions:refuse', 3002, 'Logon', 'Failure'],
    ['sessions:revoke', 3002, 'Logoff', 'Success'],
    ['passwords:update', 3007, 'Password Change', 'Success'],
    ['totp:create', 3007, 'Enable MFA Factors', 'Success'],
    ['members:create', 3007, 'Create', 'Success'],
    ['members:update', 3007, 'Update', 'Success'],
    ['members:remove', 3007, 'Delete', 'Success'],
    ['invitations:accept', 3007, 'Create', 'Success'],
    ['api-keys:create', 6003, 'Create', 'Success'],
    ['api-keys:rotate', 6003, 'Update', 'Success'],
    ['ledger:export', 6003, 'Read', 'Success'],
    ['projects:remove', 6003, 'Delete', 'Success'],
    ['weights:update', 6003, 'Update', 'Success'],
  ]
  for (const [action, classUid, activity, status] of kinds) {
    const event = toOcsf({ ...entry, action }, product)
    check(event, classUid)
    deepEqual([event['activity_name'], event['status']], [activity, status], action)
  }
})

test('an event says who, from where, what and to what, with the id of the row', () => {
  const event: Event = toOcsf(entry, product)
  deepEqual(event['actor'], { user: { uid: 'usr_1', type_id: 1, type: 'User' } })
  deepEqual(event['src_endpoint'], { ip: '192.0.2.1' })
  equal(event['api'].operation, 'api-keys:rotate')
  equal(event['api'].request.uid, 'req_1')
  deepEqual(event['resources'], [{ uid: 'key_1', type: 'api-keys' }])
  deepEqual([event['metadata'].uid, event['metadata'].sequence], ['audit_1', 7])
  deepEqual(event['unmapped'].after, { name: 'new' })
  const fromHere: Event = toOcsf({ ...entry, address: null, requestId: null, actor: 'operator' }, product)
  check(fromHere, 6003)
  deepEqual(fromHere['src_endpoint'], { svc_name: 'odyssey' })
  equal(fromHere['api'].request, undefined)
})

test('several failed sign-ins in one row are an event with their count', () => {
  const after = { shown: 'sign-in', attempts: 8, since: '2026-11-02T07:00:00.000Z' }
  const event: Event = toOcsf(
    { ...entry, action: 'sessions:refuse', actor: 'anonymous', target: 'usr_2', after },
    product,
  )
  check(event, 3002)
  deepEqual(event['user'], { uid: 'usr_2', type_id: 1, type: 'User' })
  deepEqual([event['count'], event['end_time'] - event['start_time']], [8, 3_600_000])
})

test('a checkpoint is an event with the note in it', () => {
  const checkpoint = { organization: 'org_1', size: 9, at: entry.at, note: 'a note' } as const
  const event: Event = checkpointToOcsf(checkpoint, product)
  check(event, 6003)
  deepEqual(event['unmapped'], { size: 9, note: 'a note' })
})

test('uses of a management key in one row are an event with their count', () => {
  const after = { network: '192.0.2.0/24', uses: 40, since: '2026-11-02T07:00:00.000Z' }
  const used = { action: 'management-keys:use', actor: 'mkey_1', target: 'mkey_1', after }
  const event: Event = toOcsf({ ...entry, ...used }, product)
  check(event, 6003)
  deepEqual(event['actor'], { user: { uid: 'mkey_1', type_id: 4, type: 'Service' } })
  deepEqual([event['activity_id'], event['count']], [99, 40])
  equal(event['end_time'] - event['start_time'], 3_600_000)
})
