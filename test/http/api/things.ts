// Everything that a path may name. All of it is made once; for a request that changes something, only what its path
// names is made anew.

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { readAuditRows } from '../../../src/accounts/audit/read-audit.ts'
import { createRole } from '../../../src/accounts/custom-roles.ts'
import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { createServiceAccount } from '../../../src/accounts/service-accounts.ts'
import { createInvitation } from '../../../src/accounts/sign-in/invitations.ts'
import { localKey } from '../../../src/lib/signed-note.ts'
import { signCheckpoints } from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { createSink } from '../../../src/alerts/audit-sinks/sinks.ts'
import { createChannel } from '../../../src/alerts/channels.ts'
import { createSilence } from '../../../src/alerts/silences.ts'
import { closeInvoice } from '../../../src/billing/invoices/close-invoices.ts'
import { listInvoices } from '../../../src/billing/invoices/read-invoices.ts'
import { setPrice } from '../../../src/billing/prices/prices.ts'
import type {
  ApiKeyId,
  ConnectionId,
  ManagementKeyId,
  MemberId,
  OrganizationId,
  ProjectId,
  RequestId,
  UserId,
} from '../../../src/core/ids.ts'
import { installationChain } from '../../../src/db/change.ts'
import { setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { askForLimits } from '../../../src/limits/settings/limit-requests.ts'
import { setLimit } from '../../../src/limits/settings/limit-settings.ts'
import { knownJob, knownPool, knownSwap, knownWeights, testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { addDomains, addTriedConnection, copyAsSaml } from './sso-things.ts'
import { addRequest, newMember, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
let count = 0

/** Everything a path may name, made anew, so that nothing was done to it yet. */
export type Things = {
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly memberId: MemberId
  readonly apiKeyId: ApiKeyId
  readonly managementKeyId: ManagementKeyId
  readonly serviceAccountId: string
  readonly roleId: string
  /** A session of the member. */
  readonly sessionId: string
  readonly invitationId: string
  readonly invitationToken: string
  readonly limitId: string
  readonly budgetId: string
  readonly alertId: string
  /** Channels and silences of the organization, and those of the installation. */
  readonly channelId: string
  readonly silenceId: string
  readonly installationChannelId: string
  readonly installationSilenceId: string
  /** A sink of the organization's audit, and one of everybody's. */
  readonly sinkId: string
  readonly installationSinkId: string
  /** The id of a price that is not yet in force. */
  readonly priceId: string
  readonly requestId: string
  /** A row of the audit that was signed for, and one of the installation's. */
  readonly rowId: string
  /** A tile of the audit's log, and its level. */
  readonly level: string
  readonly tile: string
  /** This month, of which there is a report already. */
  readonly month: string
  /** The invoice of that month. */
  readonly invoiceNumber: string
  readonly installationRowId: string
  readonly model: string
  readonly swapId: string
  readonly weightsId: string
  readonly pool: string
  readonly limitRequestId: string
  readonly jobId: string
  readonly tier: string
  readonly connectionId: ConnectionId
  readonly samlConnectionId: string
  readonly domainId: string
  readonly directoryId: string
  /** Somebody with a role in the installation, and somebody who has none. */
  readonly userId: UserId
  readonly operatorEmail: string
  readonly operatorId: UserId
  /** An owner who has used a passkey a short while ago. */
  readonly breakGlassId: string
}

export type WantedThings = {
  readonly company: Company
  readonly projectId: ProjectId
  /** Whose key it is. */
  readonly ownerId: MemberId
}

type Name = keyof Things

/** Makes one of the things, or several that belong together. */
type Maker = {
  readonly makes: readonly Name[]
  /** What it is made of, and made anew with: something may have been done to that as well. */
  readonly of?: readonly Name[]
  /** It is given what the makers before it have made. */
  make(parts: AccountsParts, made: Things, wanted: WantedThings): Promise<Partial<Things>>
}

/** In an order in which each comes after what it is made of. */
const makers: readonly Maker[] = [
  {
    makes: ['memberId'],
    make: async (parts, { organizationId }) => ({ memberId: await newMember(parts, organizationId, 'auditor') }),
  },
  {
    makes: ['sessionId'],
    of: ['memberId'],
    make: async (parts, { memberId }) => ({ sessionId: (await signInPerson(parts, { memberId })).sessionId }),
  },
  { makes: ['invitationId', 'invitationToken'], make: invite },
  {
    makes: ['apiKeyId'],
    async make(parts, { organizationId, projectId }, { ownerId }) {
      const { id } = await createApiKey(parts, operator, { name: 'key', organizationId, projectId, ownerId })
      return { apiKeyId: id }
    },
  },
  {
    makes: ['managementKeyId'],
    async make(parts, { organizationId }) {
      const wanted = { name: 'management', role: 'auditor', expiresAtMs: null, organizationId } as const
      return { managementKeyId: (await createManagementKey(parts, operator, wanted)).id }
    },
  },
  {
    makes: ['serviceAccountId'],
    async make(parts, { organizationId, projectId }) {
      const account = { organizationId, projectId, name: 'program' }
      return { serviceAccountId: await createServiceAccount(parts, operator, account) }
    },
  },
  { makes: ['roleId'], make: async (parts, made) => ({ roleId: await addRole(parts, made) }) },
  {
    makes: ['limitId'],
    async make(parts, made) {
      const { id } = await setLimit(parts, operator, { ...limited(made), model: '*', requestsPerMinute: 5 })
      return { limitId: await giveAway(parts, 'limits', id) }
    },
  },
  {
    makes: ['budgetId'],
    async make(parts, made) {
      const { id } = await setBudget(parts, operator, { ...limited(made), period: 'day', tokensMax: 1_000 })
      return { budgetId: await giveAway(parts, 'budgets', id) }
    },
  },
  {
    makes: ['limitRequestId'],
    of: ['apiKeyId'],
    async make(parts, { organizationId, apiKeyId }) {
      const asked = { organizationId, apiKeyId, model: '*', wanted: { concurrency: 9 }, reason: 'More', contact: null }
      return { limitRequestId: await askForLimits(parts, operator, asked) }
    },
  },
  { makes: ['alertId'], of: ['budgetId'], make: async (parts, made) => ({ alertId: await addAlert(parts, made) }) },
  { makes: ['channelId', 'silenceId'], make: (parts, made) => addAlerting(parts, made.organizationId) },
  {
    makes: ['installationChannelId', 'installationSilenceId'],
    async make(parts) {
      const { channelId, silenceId } = await addAlerting(parts, installationChain)
      return { installationChannelId: channelId, installationSilenceId: silenceId }
    },
  },
  {
    makes: ['sinkId'],
    make: async (parts, { organizationId }) => ({ sinkId: await addSink(parts, organizationId) }),
  },
  {
    makes: ['installationSinkId'],
    make: async (parts) => ({ installationSinkId: await addSink(parts, installationChain) }),
  },
  { makes: ['priceId'], make: async (parts) => ({ priceId: await addPrice(parts) }) },
  {
    makes: ['connectionId', 'breakGlassId'],
    make: (parts, _, { company }) => addTriedConnection(parts, company),
  },
  {
    makes: ['samlConnectionId'],
    of: ['connectionId'],
    make: async (parts, { connectionId }) => ({ samlConnectionId: await copyAsSaml(parts, connectionId) }),
  },
  {
    makes: ['domainId'],
    make: async (parts, { organizationId }) => ({ domainId: await addDomains(parts, organizationId) }),
  },
  {
    makes: ['directoryId'],
    async make(parts, { organizationId }) {
      const wanted = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
      return { directoryId: (await createDirectory(parts, operator, wanted)).id }
    },
  },
  {
    makes: ['requestId'],
    of: ['apiKeyId'],
    async make(parts, made) {
      await addRefusals(parts, made.organizationId)
      const requestId = await addRequest(parts, made)
      await addRecording(parts, made, requestId)
      return { requestId }
    },
  },
  { makes: ['month'], make: async (parts, { organizationId }) => ({ month: await addReport(parts, organizationId) }) },
  {
    makes: ['invoiceNumber'],
    of: ['month'],
    make: async (parts, made) => ({ invoiceNumber: await addInvoice(parts, made) }),
  },
  { makes: ['rowId', 'installationRowId'], make: (parts, { organizationId }) => signAudit(parts, organizationId) },
  {
    makes: ['userId'],
    make: async (parts) => ({ userId: (await signInPerson(parts, { installationRole: 'auditor' })).user.userId }),
  },
  { makes: ['operatorEmail', 'operatorId'], make: somebody },
]

/** All things, made anew, so that nothing was done to them yet. */
export async function createThings(parts: AccountsParts, wanted: WantedThings): Promise<Things> {
  return makeEach(parts, wanted, { known: standing(wanted), chosen: makers })
}

/** The same things, of which those named are made anew, and what they are made of. */
export async function renewThings(
  parts: AccountsParts,
  wanted: WantedThings,
  { known, names }: { readonly known: Things; readonly names: readonly string[] },
): Promise<Things> {
  const needed = new Set(names)
  const chosen: Maker[] = []
  for (const maker of makers.toReversed()) {
    if (!maker.makes.some((name) => needed.has(name))) continue
    chosen.unshift(maker)
    for (const name of maker.of ?? []) needed.add(name)
  }
  return makeEach(parts, wanted, { known, chosen })
}

async function makeEach(
  parts: AccountsParts,
  wanted: WantedThings,
  { known, chosen }: { readonly known: Things; readonly chosen: readonly Maker[] },
): Promise<Things> {
  let made = known
  for (const maker of chosen) made = { ...made, ...(await maker.make(parts, made, wanted)) }
  return made
}

/** What is there already, whatever is asked; the makers have yet to make the rest. */
function standing({ company, projectId }: WantedThings): Things {
  const there = {
    organizationId: company.organizationId,
    projectId,
    model: knownSwap.model,
    swapId: knownSwap.id,
    weightsId: knownWeights.id,
    jobId: knownJob.id,
    pool: knownPool.name,
    tier: 'tier-2',
    level: '0',
    tile: '000.p/1',
  }
  return there as Things
}

/** Makes what the installation has set the organization's own, which could not change it otherwise. */
async function giveAway({ db }: AccountsParts, table: 'limits' | 'budgets', id: string): Promise<string> {
  await db.updateTable(table).set({ set_by: 'organization' }).where('id', '=', id).execute()
  return id
}

function limited({ organizationId, projectId }: Things) {
  return { organizationId, subject: { kind: 'project', id: projectId } } as const
}

async function addRole(parts: AccountsParts, { organizationId }: Things): Promise<string> {
  count += 1
  const part = { organizationId, name: `Part ${count}`, base: 'auditor', permissions: ['members:read'] } as const
  return createRole(parts, operator, part)
}

async function somebody(parts: AccountsParts): Promise<Pick<Things, 'operatorEmail' | 'operatorId'>> {
  const { user } = await signInPerson(parts, {})
  const { email } = await parts.db
    .selectFrom('user_emails')
    .select('email')
    .where('user_id', '=', user.userId)
    .executeTakeFirstOrThrow()
  return { operatorEmail: email, operatorId: user.userId }
}

async function invite(parts: AccountsParts, { organizationId }: Things): Promise<Partial<Things>> {
  count += 1
  const wanted = { organizationId, email: `i${count}@example.org`, role: 'auditor', projectIds: [] } as const
  const { id, token } = await createInvitation({ ...parts, signIn: testSignIn }, operator, wanted)
  return { invitationId: id, invitationToken: token }
}

async function addAlert({ db, clock }: AccountsParts, made: Things): Promise<string> {
  count += 1
  const { organizationId: organization_id, budgetId: budget_id } = made
  const row = { budget_id, period_start: count, percent: 80, organization_id, at: clock.nowMs() }
  await db
    .insertInto('budget_alerts')
    .values({ ...row, spent_micros: 0, spent_tokens: 800 })
    .execute()
  return `alert_${budget_id}_${count}_80`
}

/** A channel and a silence of an organization, or of the installation. */
async function addAlerting(parts: AccountsParts, organizationId: OrganizationId) {
  const sealing = { ...parts, alertKey: new Uint8Array(32), mail: null }
  const nowMs = parts.clock.nowMs()
  const wanted = { kind: 'log', name: 'log', address: null, topics: ['audit.broken'] } as const
  const { id: channelId } = await createChannel(sealing, operator, { organizationId, ...wanted })
  // Disabled ones do not count among those that there may be.
  await parts.db.updateTable('alert_channels').set({ disabled_at: nowMs }).where('id', '=', channelId).execute()
  const silence = { topic: null, fromMs: nowMs, untilMs: nowMs + 1_000, reason: 'known', organizationId }
  const { id: silenceId } = await createSilence(parts, operator, silence)
  return { channelId, silenceId }
}

async function addSink(parts: AccountsParts, organizationId: OrganizationId): Promise<string> {
  const wanted = {
    kind: 'webhook',
    format: 'json',
    name: 'SIEM',
    address: 'https://siem.example.com',
    from: 'now',
  } as const
  const sealing = { ...parts, alertKey: new Uint8Array(32) }
  const { id } = await createSink(sealing, operator, { organizationId, ...wanted })
  // Disabled ones do not count among those that there may be.
  await parts.db.updateTable('audit_sinks').set({ disabled_at: parts.clock.nowMs() }).where('id', '=', id).execute()
  return id
}

async function addPrice(parts: AccountsParts): Promise<string> {
  const rates = { input: 10, cacheRead: 1, cacheWriteShort: 12, cacheWriteLong: 20, output: 50 }
  const price = { organizationId: null, model: 'clarke-1.0', effectiveAtMs: Date.UTC(2099, 0), rates }
  return (await setPrice({ ...parts, currency: 'USD' }, operator, price)).id
}

const { privateKey } = generateKeyPairSync('ed25519')

async function signAudit({ db, clock }: AccountsParts, organizationId: OrganizationId) {
  const file = join(tmpdir(), `odyssey-audit-checkpoints-${randomUUID()}.txt`)
  await signCheckpoints({ db, clock }, { keys: [localKey(privateKey)], name: 'log.example', file })
  rmSync(file, { force: true })
  const firstOf = async (id: OrganizationId) => {
    const [row] = await readAuditRows(db, { organizationId: id, afterSequence: 0, limit: 1 })
    return row?.id ?? ''
  }
  return { rowId: await firstOf(organizationId), installationRowId: await firstOf(installationChain) }
}

async function addReport({ db, clock }: AccountsParts, organizationId: OrganizationId): Promise<string> {
  const at = clock.nowMs()
  const month = new Date(at).toISOString().slice(0, 7)
  await db
    .insertInto('sla_reports')
    .values({ organization_id: organizationId, month, version: 1, at, note: 'signed', marks: '' })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return month
}

async function addInvoice(parts: AccountsParts, { organizationId, month }: Things): Promise<string> {
  const question = { organizationId, month, currency: 'USD' }
  await closeInvoice(
    { ...parts, currency: 'USD' },
    { keys: [localKey(privateKey)], name: 'invoices.example' },
    question,
  )
  const [invoice] = await listInvoices(parts.db, operator, organizationId)
  return String(invoice?.number)
}

/** Counts refused requests of an organization, and one of nobody knows whom. */
/** What was said in it, which was too large to be kept. */
async function addRecording(
  { db, clock }: AccountsParts,
  { organizationId: organization_id, projectId: project_id }: Things,
  requestId: string,
): Promise<void> {
  const at = clock.nowMs()
  await db
    .insertInto('recordings')
    .values({
      request_id: requestId as RequestId,
      organization_id,
      project_id,
      at,
      ends_at: at + 86_400_000,
      state: 'too-large',
      bytes: 0,
      content: null,
    })
    .execute()
}

async function addRefusals({ db, clock }: AccountsParts, organizationId: OrganizationId): Promise<void> {
  count += 1
  const counter = { at: clock.nowMs() - count * 3_600_000, class: 'rate-limited', requests: count }
  const counters = [
    { ...counter, organization_id: organizationId },
    { ...counter, organization_id: '' as const },
  ]
  await db.insertInto('refusals').values(counters).execute()
}
