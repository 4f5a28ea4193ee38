// The audit as the Open Cybersecurity Schema Framework has it: sign-ins as Authentication (3002), what is done to people
// and service accounts as User Management (3007), everything else as API Activity (6003).

import { z } from 'zod'
import type { AuditEntry } from '../../accounts/audit/read-audit.ts'
import type { OrganizationId } from '../../core/ids.ts'

/** The first version with User Management. */
export const ocsfVersion = '1.9.0'

/** Who says it. */
export type Product = { readonly version: string; readonly host: string }

/** A checkpoint, which goes the way that the rows go. */
export type CheckpointEntry = {
  readonly organization: OrganizationId
  readonly size: number
  readonly at: string
  readonly note: string
}

const authentication = { uid: 3002, name: 'Authentication' } as const
const userManagement = { uid: 3007, name: 'User Management' } as const
const apiActivity = { uid: 6003, name: 'API Activity' } as const
type EventClass = typeof authentication | typeof userManagement | typeof apiActivity

type Activity = { readonly id: number; readonly name: string }
const create: Activity = { id: 1, name: 'Create' }
const read: Activity = { id: 2, name: 'Read' }
const update: Activity = { id: 3, name: 'Update' }
const remove: Activity = { id: 4, name: 'Delete' }

/** What is done to somebody or some program that may sign in or hold keys. */
const people: ReadonlySet<string> = new Set([
  'installation-members',
  'invitations',
  'members',
  'passkeys',
  'passwords',
  'recovery-codes',
  'service-accounts',
  'totp',
  'users',
])

/** What is done to the ways by which somebody signs in. */
const factorActivities: Readonly<Record<string, Activity>> = {
  'passkeys:create': { id: 12, name: 'Enable MFA Factors' },
  'passkeys:remove': { id: 13, name: 'Disable MFA Factors' },
  'passwords:update': { id: 8, name: 'Password Change' },
  'totp:create': { id: 12, name: 'Enable MFA Factors' },
  'totp:remove': { id: 13, name: 'Disable MFA Factors' },
}

/** Verbs that are not changes of something that stays. */
const apiActivities: Readonly<Record<string, Activity>> = {
  create,
  announce: create,
  import: create,
  provision: create,
  read,
  export: read,
  verify: read,
  expire: remove,
  use: { id: 99, name: 'Other' },
  remove,
  revoke: remove,
  void: remove,
  withdraw: remove,
}

const userActivities: Readonly<Record<string, Activity>> = {
  create,
  accept: create,
  adopt: create,
  provision: create,
  remove: { id: 3, name: 'Delete' },
  withdraw: { id: 3, name: 'Delete' },
  enable: { id: 4, name: 'Enable' },
  resume: { id: 4, name: 'Enable' },
  reactivate: { id: 4, name: 'Enable' },
  disable: { id: 5, name: 'Disable' },
  suspend: { id: 5, name: 'Disable' },
  leave: { id: 5, name: 'Disable' },
}

/** A row of the audit as an event. Its `metadata.uid` is the row's id: an event that comes twice has the same. */
export function toOcsf(entry: AuditEntry, product: Product): Record<string, unknown> {
  const [resource = '', verb = ''] = entry.action.split(':')
  const { kind, activity } = classify(resource, verb)
  const isRefused = verb === 'refuse'
  return {
    ...classified(kind, activity),
    severity_id: isRefused ? 2 : 1,
    severity: isRefused ? 'Low' : 'Informational',
    status_id: isRefused ? 2 : 1,
    status: isRefused ? 'Failure' : 'Success',
    time: Date.parse(entry.at),
    message: `${entry.actor} ${entry.action} ${entry.target}`,
    metadata: {
      ...metadataOf(product, entry.organization),
      uid: entry.id,
      sequence: entry.sequence,
      event_code: entry.action,
    },
    actor: { user: userOf(entry.actor) },
    src_endpoint: entry.address === null ? { svc_name: 'odyssey' } : { ip: entry.address },
    ...subjectOf(kind, entry, { resource, product }),
    unmapped: {
      target: entry.target,
      before: entry.before,
      after: entry.after,
      request_id: entry.requestId,
      hash: entry.hash,
    },
  }
}

/** A checkpoint as an event: who keeps the events has what the audit must agree with ever after. */
export function checkpointToOcsf({ organization, size, at, note }: CheckpointEntry, product: Product) {
  return {
    ...classified(apiActivity, create),
    severity_id: 1,
    severity: 'Informational',
    status_id: 1,
    status: 'Success',
    time: Date.parse(at),
    message: `${size} rows of the audit were signed for.`,
    metadata: {
      ...metadataOf(product, organization),
      uid: `checkpoint_${organization}_${size}`,
      event_code: 'audit:checkpoint',
    },
    actor: { app_name: 'odyssey' },
    src_endpoint: { svc_name: 'odyssey' },
    api: { operation: 'audit:checkpoint', service: serviceOf(product) },
    unmapped: { size, note },
  }
}

function classify(resource: string, verb: string): { readonly kind: EventClass; readonly activity: Activity } {
  if (resource === 'sessions') {
    const isEnd = verb === 'end' || verb === 'revoke'
    if (verb === 'read') return { kind: apiActivity, activity: read }
    return { kind: authentication, activity: isEnd ? { id: 2, name: 'Logoff' } : { id: 1, name: 'Logon' } }
  }
  if (people.has(resource)) {
    const known = factorActivities[`${resource}:${verb}`] ?? userActivities[verb]
    return { kind: userManagement, activity: known ?? { id: 2, name: 'Update' } }
  }
  return { kind: apiActivity, activity: apiActivities[verb] ?? update }
}

function classified({ uid, name }: EventClass, activity: Activity) {
  const category = Math.floor(uid / 1_000)
  return {
    category_uid: category,
    category_name: category === 3 ? 'Identity & Access Management' : 'Application Activity',
    class_uid: uid,
    class_name: name,
    activity_id: activity.id,
    activity_name: activity.name,
    type_uid: uid * 100 + activity.id,
    type_name: `${name}: ${activity.name}`,
  }
}

function metadataOf({ version, host }: Product, organization: OrganizationId) {
  const product = { name: 'Odyssey', vendor_name: 'Odyssey', version }
  return { version: ocsfVersion, product, tenant_uid: organization, log_name: 'audit', log_provider: host }
}

function serviceOf({ version }: Product) {
  return { name: 'Odyssey', version }
}

/** Keys, directories and the operator's command line are no people. */
function userOf(actor: string) {
  const isPerson = /^(mem|usr)_/.test(actor)
  return isPerson ? { uid: actor, type_id: 1, type: 'User' } : { uid: actor, type_id: 4, type: 'Service' }
}

type Subject = { readonly resource: string; readonly product: Product }

const severalSchema = z.union([
  z.object({ attempts: z.int().min(2), since: z.iso.datetime() }),
  z.object({ uses: z.int().min(2), since: z.iso.datetime() }),
])

/** Several attempts, or uses of a key, that one row tells of. */
function countOf({ after, at }: AuditEntry) {
  const { data } = severalSchema.safeParse(after)
  if (data === undefined) return {}
  const [start_time, end_time] = [Date.parse(data.since), Date.parse(at)]
  return { count: 'uses' in data ? data.uses : data.attempts, start_time, end_time }
}

/** What each class asks for besides what all have. */
function subjectOf(kind: EventClass, entry: AuditEntry, { resource, product }: Subject): Record<string, unknown> {
  const service = serviceOf(product)
  if (kind === authentication) {
    // Who was not let in is nobody: the account that was tried is what it was done to.
    const user = userOf(entry.actor === 'anonymous' ? entry.target : entry.actor)
    return { user, service, is_remote: entry.address !== null, ...countOf(entry) }
  }
  if (kind === userManagement) return { user: userOf(entry.target) }
  const request = entry.requestId === null ? {} : { request: { uid: entry.requestId } }
  return {
    api: { operation: entry.action, service, ...request },
    resources: [{ uid: entry.target, type: resource }],
    ...countOf(entry),
  }
}
