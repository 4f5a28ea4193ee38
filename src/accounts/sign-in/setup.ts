import type { Transaction } from 'kysely'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/permission.ts'
import { change, joinTransaction } from '../../db/change.ts'
import { countChange } from '../../db/changes.ts'
import type { OneTimeLinkTable } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import { endAgents } from '../agents/end-agents.ts'
import { createMember } from '../members.ts'
import { ensureDefaultHome, renameOrganization, type Home } from '../organizations.ts'
import { keepCredential, prepareCredential, type CredentialOf, type NewCredential } from './credentials.ts'
import { lockOrganizationsOf, replaceFactors } from './factors.ts'
import { createToken, hashToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'
import { refuseSignIn } from './refusals.ts'
import type { Browser } from './sessions.ts'
import { beginInside, noteWayPast, type SignedIn } from './sign-in.ts'
import { createUser, ownAction } from './users.ts'

const operator = { kind: 'operator' } as const
const setupMs = 86_400_000
const recoveryMs = 600_000

/** Whether nobody can sign in who may do everything, so that a first owner has to be made. */
export async function isSetupNeeded({ db }: Pick<SignInParts, 'db'>): Promise<boolean> {
  return (await listInstallationOwners({ db })).length === 0
}

/** Those who own the installation as a whole, the first one first. */
export async function listInstallationOwners({ db }: Pick<SignInParts, 'db'>): Promise<readonly UserId[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('installation_role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Makes the link by which the first owner signs in, in the place of any before; null where there is an owner. */
export async function createSetupLink(parts: Pick<SignInParts, 'db' | 'clock'>): Promise<string | null> {
  if (!(await isSetupNeeded(parts))) return null
  const token = createToken()
  await parts.db.transaction().execute(async (transaction) => {
    await transaction.deleteFrom('one_time_links').where('purpose', '=', 'setup').execute()
    await addLink(parts, transaction, { token, purpose: 'setup', userId: null, lastsMs: setupMs })
  })
  return token
}

/**
 * Makes a link by which an owner gets another way to sign in: by it nobody signs in as somebody else unseen. It leaves the
 * ways that they have, unless it ends them when it is used.
 */
export async function createRecoveryLink(
  parts: Pick<SignInParts, 'db' | 'clock' | 'origin'>,
  userId: UserId,
  { endsOthers = false }: { readonly endsOthers?: boolean } = {},
): Promise<string> {
  const token = createToken()
  const purpose = endsOthers ? 'replacement' : 'recovery'
  await change(parts, operator, ownAction('owners:link', userId), async (transaction, note) => {
    await transaction.deleteFrom('one_time_links').where('user_id', '=', userId).execute()
    await addLink(parts, transaction, { token, purpose, userId, lastsMs: recoveryMs })
    note(null, { ends_others: endsOthers })
  })
  return token
}

type NewLink = Pick<OneTimeLinkTable, 'purpose'> & {
  readonly token: string
  readonly userId: UserId | null
  readonly lastsMs: number
}

async function addLink(
  { clock }: Pick<SignInParts, 'clock'>,
  transaction: Transaction<Tables>,
  { token, purpose, userId, lastsMs }: NewLink,
): Promise<void> {
  const now = clock.nowMs()
  const times = { created_at: now, ends_at: now + lastsMs, used_at: null }
  await transaction
    .insertInto('one_time_links')
    .values({ hash: hashToken(token), purpose, user_id: userId, ...times })
    .execute()
}

/** Which links are taken where one is opened. */
const purposes = { setup: ['setup'], recovery: ['recovery', 'replacement'] } as const

export type OpenLink = {
  /** The person it is for; null for the first owner, who is nobody yet. */
  readonly userId: UserId | null
  readonly endsOthers: boolean
}

/** Throws for a link that opens nothing. */
export async function readLink(
  { db, clock }: Pick<SignInParts, 'db' | 'clock'>,
  token: string,
  kind: keyof typeof purposes,
): Promise<OpenLink> {
  const row = await db
    .selectFrom('one_time_links')
    .select(['user_id', 'purpose'])
    .where('hash', '=', hashToken(token))
    .where('purpose', 'in', purposes[kind])
    .where('used_at', 'is', null)
    .where('ends_at', '>', clock.nowMs())
    .executeTakeFirst()
  if (row === undefined) throw refuseSignIn()
  return { userId: row.user_id, endsOthers: row.purpose === 'replacement' }
}

/** Uses a link up. Of two who come at once, one finds it used. */
async function useLink(
  { clock }: Pick<SignInParts, 'clock'>,
  transaction: Transaction<Tables>,
  { token, kind }: { readonly token: string; readonly kind: keyof typeof purposes },
): Promise<void> {
  const now = clock.nowMs()
  const row = await transaction
    .updateTable('one_time_links')
    .set({ used_at: now })
    .where('hash', '=', hashToken(token))
    .where('purpose', 'in', purposes[kind])
    .where('used_at', 'is', null)
    .where('ends_at', '>', now)
    .returning('hash')
    .executeTakeFirst()
  if (row === undefined) throw refuseSignIn()
}

/** A link, and the credential that is made with it. */
export type LinkUse = Omit<CredentialOf, 'userId'> & {
  readonly token: string
  readonly credential: NewCredential
  readonly browser: Browser
}

export type FirstOwner = LinkUse & {
  readonly name: string
  readonly email: string
  readonly organizationName: string
}

/** Makes the first owner, who owns the installation and its first organization, and signs them in. */
export async function completeSetup(
  parts: SignInParts,
  { name, email, organizationName, credential, ...use }: FirstOwner,
): Promise<SignedIn & Home> {
  if (!(await isSetupNeeded(parts))) throw notFound()
  await readLink(parts, use.token, 'setup')
  const prepared = await prepareCredential(parts, credential)
  const home = await ensureDefaultHome(parts)
  const signedIn = await parts.db.transaction().execute(async (transaction) => {
    await useLink(parts, transaction, { token: use.token, kind: 'setup' })
    const joined = { ...parts, db: joinTransaction(transaction) }
    if (!(await isSetupNeeded(joined))) throw notFound()
    const user = await createUser(parts, transaction, { name, email, installationRole: 'owner' })
    const { userId } = user
    const method = await keepCredential(parts, transaction, prepared, { ...use, userId })
    await change(joined, user, ownAction('users:create', userId), (_transaction, note) => {
      note(null, { name, installation_role: 'owner', method })
      return Promise.resolve()
    })
    await renameOrganization(joined, user, { ...home, name: organizationName })
    const memberId = await createMember(joined, user, { ...home, name, email, role: 'owner' })
    await transaction.updateTable('members').set({ user_id: userId }).where('id', '=', memberId).execute()
    return beginInside(parts, transaction, { begun: { userId, method }, browser: use.browser })
  })
  return { ...signedIn, ...home }
}

/**
 * Gives the person of a link another way to sign in, and signs them in by it. Their sessions until now end, and so do
 * their coding agents: whoever had got in before may have signed some in. With a link that ends the others, every other
 * way to sign in ends too.
 */
export async function signInByLink(parts: SignInParts, { credential, ...use }: LinkUse): Promise<SignedIn> {
  const { userId, endsOthers } = await readLink(parts, use.token, 'recovery')
  if (userId === null) throw refuseSignIn()
  const prepared = await prepareCredential(parts, credential)
  const { method, signedIn } = await parts.db.transaction().execute(async (transaction) => {
    if (endsOthers) await lockOrganizationsOf(transaction, userId)
    // First of all the rest, as whoever ends an account waits for its links and sessions with this in hand.
    await countChange(transaction, 'access')
    await useLink(parts, transaction, { token: use.token, kind: 'recovery' })
    await transaction.deleteFrom('sessions').where('user_id', '=', userId).execute()
    await endAgents(transaction, { userId })
    const keep = () => keepCredential(parts, transaction, prepared, { ...use, userId })
    const method = endsOthers ? await replaceFactors(parts, transaction, { userId, keep }) : await keep()
    const begun = { userId, method }
    return { ...begun, signedIn: await beginInside(parts, transaction, { begun, browser: use.browser }) }
  })
  await parts.accessChanged?.()
  await noteWayPast(parts, userId, method)
  return signedIn
}
