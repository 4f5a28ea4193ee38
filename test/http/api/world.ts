import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '../../../src/accounts/api-keys.ts'
import { readAuditRows } from '../../../src/accounts/audit/read-audit.ts'
import { signCheckpoints } from '../../../src/accounts/transparency/sign-checkpoints.ts'
import { installationChain } from '../../../src/db/change.ts'
import { createChannel } from '../../../src/alerts/channels.ts'
import { createSilence } from '../../../src/alerts/silences.ts'
import { createRole } from '../../../src/accounts/custom-roles.ts'
import { createServiceAccount } from '../../../src/accounts/service-accounts.ts'
import { createManagementKey } from '../../../src/accounts/management-keys.ts'
import { createInvitation } from '../../../src/accounts/sign-in/invitations.ts'
import { createMember } from '../../../src/accounts/members.ts'
import { createOrganization } from '../../../src/accounts/organizations.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { createProject, setProjectMember } from '../../../src/accounts/projects.ts'
import type { ApiKeyId, ManagementKeyId, MemberId, OrganizationId, ProjectId, UserId } from '../../../src/core/ids.ts'
import type { MemberPrincipal } from '../../../src/core/principal.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { closeInvoice } from '../../../src/billing/invoices/close-invoices.ts'
import { listInvoices } from '../../../src/billing/invoices/read-invoices.ts'
import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { setPrice } from '../../../src/billing/prices/prices.ts'
import { setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { askForLimits } from '../../../src/limits/settings/limit-requests.ts'
import { setLimit } from '../../../src/limits/settings/limit-settings.ts'
import { ledgerRow } from '../../harness/databases/ledger-row.ts'
import { knownJob, knownPool, knownSwap, knownWeights, testSignIn } from '../../harness/management.ts'
import { createSsoThings } from './sso-things.ts'
import { signInPerson } from '../../harness/sign-in.ts'

const operator = { kind: 'operator' } as const
let count = 0

/** An organization with somebody in every role. */
export type Company = {
  readonly organizationId: OrganizationId
  /** Two projects: the developer sees the first. */
  readonly projectId: ProjectId
  readonly siblingId: ProjectId
  readonly members: Readonly<Record<Role, MemberPrincipal>>
}

export async function createCompany(parts: AccountsParts): Promise<Company> {
  const { organizationId, projectId } = await createOrganization(parts, operator, { name: 'Company' })
  const siblingId = await createProject(parts, operator, { organizationId, name: 'Sibling' })
  const members = {} as Record<Role, MemberPrincipal>
  for (const role of roles) {
    const memberId = await newMember(parts, organizationId, role)
    if (role === 'developer') {
      await setProjectMember(parts, operator, { id: projectId, organizationId, memberId, maySee: true })
    }
    members[role] = {
      kind: 'member',
      memberId,
      organizationId,
      role,
      projectIds: role === 'developer' ? [projectId] : [],
    }
  }
  return { organizationId, projectId, siblingId, members }
}

export function newMember(parts: AccountsParts, organizationId: OrganizationId, role: Role): Promise<MemberId> {
  count += 1
  return createMember(parts, operator, { organizationId, email: `m${count}@example.org`, name: 'M', role })
}

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
  readonly limitId: string
  readonly budgetId: string
  readonly alertId: string
  /** Channels and silences of the organization, and those of the installation. */
  readonly channelId: string
  readonly silenceId: string
  readonly installationChannelId: string
  readonly installationSilenceId: string
  /** The id of a price that is not yet in force. */
  readonly priceId: string
  readonly requestId: string
  /** A row of the audit that was signed for, and one of the installation's. */
  readonly rowId: string
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
  readonly connectionId: string
  readonly samlConnectionId: string
  readonly domainId: string
  readonly directoryId: string
  /** Somebody with a role in the installation, and the address of somebody who has none. */
  readonly userId: UserId
  readonly operatorEmail: string
  /** An owner who has used a passkey a short while ago. */
  readonly breakGlassId: string
}

export type WantedThings = {
  readonly company: Company
  readonly projectId: ProjectId
  /** Whose key it is. */
  readonly ownerId: MemberId
}

export async function createThings(
  parts: AccountsParts,
  { company, projectId, ownerId }: WantedThings,
): Promise<Things> {
  const { organizationId } = company
  const memberId = await newMember(parts, organizationId, 'auditor')
  const { sessionId } = await signInPerson(parts, { memberId })
  const invitationId = await invite(parts, organizationId)
  const { id: apiKeyId } = await createApiKey(parts, operator, { name: 'key', organizationId, projectId, ownerId })
  const wanted = { name: 'management', role: 'auditor', expiresAtMs: null } as const
  const { id: managementKeyId } = await createManagementKey(parts, operator, { ...wanted, organizationId })
  const account = { organizationId, projectId, name: 'program' }
  const serviceAccountId = await createServiceAccount(parts, operator, account)
  count += 1
  const part = { organizationId, name: `Part ${count}`, base: 'auditor', permissions: ['members:read'] } as const
  const roleId = await createRole(parts, operator, part)
  const place = { organizationId, subject: { kind: 'project', id: projectId } } as const
  const { id: limitId } = await setLimit(parts, operator, { ...place, model: '*', requestsPerMinute: 5 })
  const { id: budgetId } = await setBudget(parts, operator, { ...place, period: 'day', tokensMax: 1_000 })
  const asked = { organizationId, apiKeyId, model: '*', wanted: { concurrency: 9 }, reason: 'More', contact: null }
  const limitRequestId = await askForLimits(parts, operator, asked)
  const alertId = await addAlert(parts, organizationId, budgetId)
  const alerting = await addAlerting(parts, organizationId)
  const priceId = await addPrice(parts)
  const sso = await createSsoThings(parts, company)
  const requestId = await addRequest(parts, { organizationId, projectId, apiKeyId })
  await addRefusals(parts, organizationId)
  const month = await addReport(parts, organizationId)
  const invoiceNumber = await addInvoice(parts, organizationId, month)
  const rows = await signAudit(parts, organizationId)
  const { user } = await signInPerson(parts, { installationRole: 'auditor' })
  const operatorEmail = await emailOfSomebody(parts)
  const engine = {
    model: knownSwap.model,
    swapId: knownSwap.id,
    weightsId: knownWeights.id,
    jobId: knownJob.id,
    pool: knownPool.name,
  }
  return {
    organizationId,
    projectId,
    memberId,
    apiKeyId,
    managementKeyId,
    serviceAccountId,
    roleId,
    sessionId,
    invitationId,
    limitId,
    budgetId,
    alertId,
    ...alerting,
    priceId,
    requestId,
    month,
    invoiceNumber,
    ...rows,
    limitRequestId,
    ...sso,
    tier: 'tier-2',
    userId: user.userId,
    operatorEmail,
    ...engine,
  }
}

async function emailOfSomebody(parts: AccountsParts): Promise<string> {
  const { user } = await signInPerson(parts, {})
  const { email } = await parts.db
    .selectFrom('user_emails')
    .select('email')
    .where('user_id', '=', user.userId)
    .executeTakeFirstOrThrow()
  return email
}

async function invite(parts: AccountsParts, organizationId: OrganizationId): Promise<string> {
  count += 1
  const wanted = { organizationId, email: `i${count}@example.org`, role: 'auditor', projectIds: [] } as const
  return (await createInvitation({ ...parts, signIn: testSignIn }, operator, wanted)).id
}

type Whose = Pick<Things, 'organizationId' | 'projectId' | 'apiKeyId'>

async function addAlert({ db, clock }: AccountsParts, organization_id: OrganizationId, budget_id: string) {
  count += 1
  const row = { budget_id, period_start: count, percent: 80, organization_id, at: clock.nowMs() }
  await db
    .insertInto('budget_alerts')
    .values({ ...row, spent_micros: 0, spent_tokens: 800 })
    .execute()
  return `alert_${budget_id}_${count}_80`
}

async function addAlerting(parts: AccountsParts, organizationId: OrganizationId) {
  const sealing = { ...parts, alertKey: new Uint8Array(32) }
  const nowMs = parts.clock.nowMs()
  const addOf = async (of: OrganizationId) => {
    const wanted = { kind: 'log', name: 'log', address: null, topics: ['audit.broken'] } as const
    const { id: channelId } = await createChannel(sealing, operator, { organizationId: of, ...wanted })
    // Disabled ones do not count among those that there may be.
    await parts.db.updateTable('alert_channels').set({ disabled_at: nowMs }).where('id', '=', channelId).execute()
    const silence = { topic: null, fromMs: nowMs, untilMs: nowMs + 1_000, reason: 'known', organizationId: of }
    const { id: silenceId } = await createSilence(parts, operator, silence)
    return { channelId, silenceId }
  }
  const own = await addOf(organizationId)
  const { channelId: installationChannelId, silenceId: installationSilenceId } = await addOf(installationChain)
  return { ...own, installationChannelId, installationSilenceId }
}

async function addPrice(parts: AccountsParts): Promise<string> {
  const rates = { input: 10, cacheRead: 1, cacheWriteShort: 12, cacheWriteLong: 20, output: 50 }
  const price = { organizationId: null, model: 'clarke-1.0', effectiveAtMs: Date.UTC(2099, 0), rates }
  return (await setPrice({ ...parts, currency: 'USD' }, operator, price)).id
}

const { privateKey } = generateKeyPairSync('ed25519')

async function signAudit({ db, clock }: AccountsParts, organizationId: OrganizationId) {
  const file = join(tmpdir(), `odyssey-audit-checkpoints-${randomUUID()}.txt`)
  await signCheckpoints({ db, clock }, { keys: [privateKey], name: 'log.example', file })
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

async function addInvoice(parts: AccountsParts, organizationId: OrganizationId, month: string): Promise<string> {
  const question = { organizationId, month, currency: 'USD' }
  await closeInvoice({ ...parts, currency: 'USD' }, { keys: [privateKey], name: 'invoices.example' }, question)
  const [invoice] = await listInvoices(parts.db, operator, organizationId)
  return String(invoice?.number)
}

/** Counts refused requests of an organization, and one of nobody knows whom. */
async function addRefusals({ db, clock }: AccountsParts, organizationId: OrganizationId): Promise<void> {
  count += 1
  const counter = { at: clock.nowMs() - count * 3_600_000, class: 'rate-limited', requests: count }
  const counters = [
    { ...counter, organization_id: organizationId },
    { ...counter, organization_id: '' as const },
  ]
  await db.insertInto('refusals').values(counters).execute()
}

/** Adds a row to the ledger. */
export async function addRequest(
  { db, clock }: AccountsParts,
  { organizationId, projectId, apiKeyId }: Whose,
  fields: Partial<ReturnType<typeof ledgerRow>> = {},
): Promise<string> {
  count += 1
  const ids = { organization_id: organizationId, project_id: projectId, api_key_id: apiKeyId }
  const row = { ...ledgerRow(count), ...ids, at: clock.nowMs(), admitted_at: clock.nowMs(), ...fields }
  await insertRows(db, [row])
  return row.request_id
}
