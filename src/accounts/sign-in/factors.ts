import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/permission.ts'
import { change, joinTransaction } from '../../db/change.ts'
import type { SignInMethod } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import { seal, unseal } from '../../lib/seal.ts'
import { checkName } from '../check-name.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import { keepCredential, prepareCredential } from './credentials.ts'
import { createRecoveryCodes, hashRecoveryCode } from './one-time.ts'
import type { SignInParts } from './parts.ts'
import { addPasskey, type NewPasskey } from './passkeys.ts'
import type { Session } from './sessions.ts'
import { createTotpSecret, findTotpStep, totpUri } from './totp.ts'
import { ownAction, readProfile, type Profile } from './users.ts'

/** A person's account, as they see it themselves. */
export type Account = Profile & {
  readonly passkeys: readonly {
    readonly id: string
    readonly name: string
    readonly createdAtMs: number
    readonly lastUsedAtMs: number | null
    readonly isBackedUp: boolean
  }[]
  readonly hasPassword: boolean
  readonly hasTotp: boolean
  readonly recoveryCodesLeft: number
}

/** What somebody can sign in with. */
export type Factors = Omit<Account, keyof Profile>

export async function readAccount(parts: SignInParts, { user: { id } }: Session): Promise<Account> {
  return { ...(await readProfile(parts, id)), ...(await readFactors(parts, id)) }
}

export async function readFactors({ db }: Pick<SignInParts, 'db'>, id: UserId): Promise<Factors> {
  const passkeys = await db.selectFrom('passkeys').selectAll().where('user_id', '=', id).orderBy('created_at').execute()
  const password = await db.selectFrom('passwords').select('user_id').where('user_id', '=', id).executeTakeFirst()
  const totp = await db.selectFrom('totp').select('confirmed_at').where('user_id', '=', id).executeTakeFirst()
  const codes = await db
    .selectFrom('recovery_codes')
    .select('hash')
    .where('user_id', '=', id)
    .where('used_at', 'is', null)
    .execute()
  return {
    passkeys: passkeys.map((row) => ({
      id: row.id,
      name: row.name,
      createdAtMs: row.created_at,
      lastUsedAtMs: row.last_used_at,
      isBackedUp: row.is_backed_up === 1,
    })),
    hasPassword: password !== undefined,
    hasTotp: totp !== undefined && totp.confirmed_at !== null,
    recoveryCodesLeft: codes.length,
  }
}

export type ProfileChanges = { readonly name?: string; readonly preferences?: string }

export async function updateProfile(parts: SignInParts, session: Session, changes: ProfileChanges): Promise<void> {
  const { id } = session.user
  const columns = { ...changes, ...(changes.name !== undefined && { name: checkName(changes.name) }) }
  await change(parts, session.principal, ownAction('users:update', id), async (transaction, note) => {
    await transaction.updateTable('users').set(columns).where('id', '=', id).execute()
    note({ name: session.user.name }, columns)
  })
}

export async function createPasskey(
  parts: SignInParts,
  session: Session,
  passkey: Omit<NewPasskey, 'userId'>,
): Promise<void> {
  const userId = session.user.id
  await change(parts, session.principal, ownAction('passkeys:create', userId), async (transaction, note) => {
    const id = await addPasskey(parts, transaction, { ...passkey, userId })
    note(null, { passkey: id, name: passkey.name })
  })
}

export async function removePasskey(parts: SignInParts, session: Session, id: string): Promise<void> {
  const userId = session.user.id
  await change(parts, session.principal, ownAction('passkeys:remove', userId), async (transaction, note) => {
    await lockOrganizationsOf(transaction, userId)
    const removed = await transaction
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .returning('name')
      .executeTakeFirst()
    if (removed === undefined) throw notFound()
    await requireWayIn(parts, transaction, userId)
    await requireWayPast(parts, transaction, userId)
    note({ passkey: id, name: removed.name }, null)
  })
}

/** Sets or replaces the password. Whoever changes a way in may want to end other sessions, and does so by themselves. */
export async function setPassword(parts: SignInParts, session: Session, password: string): Promise<void> {
  const userId = session.user.id
  const prepared = await prepareCredential(parts, { kind: 'password', password })
  const unbound = {
    party: { origin: session.origin, rpId: '' },
    asked: { purpose: 'add', browser: '', userId },
  } as const
  await change(parts, session.principal, ownAction('passwords:update', userId), async (transaction) => {
    await keepCredential(parts, transaction, prepared, { userId, ...unbound })
  })
}

/** An authenticator app stands behind a password, and goes with it. */
export async function removePassword(parts: SignInParts, session: Session): Promise<void> {
  const userId = session.user.id
  await change(parts, session.principal, ownAction('passwords:remove', userId), async (transaction) => {
    await lockOrganizationsOf(transaction, userId)
    await transaction.deleteFrom('passwords').where('user_id', '=', userId).execute()
    await transaction.deleteFrom('totp').where('user_id', '=', userId).execute()
    await requireWayIn(parts, transaction, userId)
    await requireWayPast(parts, transaction, userId)
  })
}

/**
 * Waits for whoever makes somebody the owner who comes in past their organization’s only provider, as that is refused to
 * who has no factor: either the factor is found to be gone then, or what it is needed for is found here. By their ids, as
 * two who take several at once would else wait for each other.
 */
export async function lockOrganizationsOf(transaction: Transaction<Tables>, userId: UserId): Promise<void> {
  const rows = await transaction
    .selectFrom('members')
    .select('organization_id')
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .orderBy('organization_id')
    .execute()
  for (const { organization_id } of rows) await lockOrganization(transaction, organization_id)
}

type Replacing = {
  readonly userId: UserId
  /** Keeps the new way in. */
  keep(): Promise<SignInMethod>
}

/** Ends everything that somebody signs in with, but for what is kept in its place. */
export async function replaceFactors(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { userId, keep }: Replacing,
): Promise<SignInMethod> {
  const user = { kind: 'user', userId, organizationId: null, role: null } as const
  const joined = { ...parts, db: joinTransaction(transaction) }
  return change(joined, user, ownAction('owners:replace', userId), async (_same, note) => {
    const { passkeys, ...others } = await readFactors({ db: joined.db }, userId)
    for (const table of ['passkeys', 'passwords', 'totp', 'recovery_codes'] as const) {
      await transaction.deleteFrom(table).where('user_id', '=', userId).execute()
    }
    const method = await keep()
    await requireWayPast(parts, transaction, userId)
    note({ passkeys: passkeys.map(({ id, name }) => ({ id, name })), ...others }, { method })
    return method
  })
}

/** A password is no way in where none is taken, though one may be left of a time when they were. */
async function requireWayIn(parts: SignInParts, transaction: Transaction<Tables>, userId: UserId): Promise<void> {
  const ways = await readWays(parts, transaction, userId)
  if (ways.passkey || ways.password) return
  throw conflict('Nothing would be left to sign in with: add another way first.')
}

/** Whoever comes in where an organization's only provider fails keeps what lets them in then. */
async function requireWayPast(parts: SignInParts, transaction: Transaction<Tables>, userId: UserId): Promise<void> {
  const ways = await readWays(parts, transaction, userId)
  if (ways.passkey || (ways.password && ways.totp)) return
  const glass = await transaction
    .selectFrom('connections')
    .innerJoin('members', 'members.id', 'connections.break_glass_id')
    .select('connections.id')
    .where('connections.enforced_at', 'is not', null)
    .where('members.user_id', '=', userId)
    .executeTakeFirst()
  if (glass === undefined) return
  throw conflict(
    'You come in where the provider of your organization fails, and could not without this: add a passkey first.',
  )
}

async function readWays({ signIn }: SignInParts, transaction: Transaction<Tables>, userId: UserId) {
  const passkey = await transaction.selectFrom('passkeys').select('id').where('user_id', '=', userId).executeTakeFirst()
  const password = await transaction
    .selectFrom('passwords')
    .select('user_id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const totp = await transaction
    .selectFrom('totp')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return {
    passkey: passkey !== undefined,
    password: signIn.passwords !== 'off' && password !== undefined,
    totp: totp !== undefined,
  }
}

/** Makes a secret for an authenticator app, which counts once a code of it was given. */
export async function beginTotp(parts: SignInParts, session: Session): Promise<{ secret: string; uri: string }> {
  const userId = session.user.id
  const secret = createTotpSecret()
  const sealed = seal(parts.signIn.sealKey, userId, secret)
  await change(parts, session.principal, ownAction('totp:begin', userId), async (transaction) => {
    const password = await transaction
      .selectFrom('passwords')
      .select('user_id')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (password === undefined) throw conflict('Set a password first: a passkey needs no code.')
    const begun = await transaction
      .insertInto('totp')
      .values({ user_id: userId, sealed, last_step: 0, confirmed_at: null })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet({ sealed, last_step: 0 }).where('totp.confirmed_at', 'is', null),
      )
      .returning('user_id')
      .executeTakeFirst()
    if (begun === undefined) throw conflict('There is an authenticator app: remove it first.')
  })
  return { secret, uri: totpUri(secret, { issuer: 'Odyssey', account: session.user.email }) }
}

export async function confirmTotp(parts: SignInParts, session: Session, code: string): Promise<void> {
  const userId = session.user.id
  const nowMs = parts.clock.nowMs()
  await change(parts, session.principal, ownAction('totp:create', userId), async (transaction) => {
    const row = await transaction
      .selectFrom('totp')
      .selectAll()
      .where('user_id', '=', userId)
      .where('confirmed_at', 'is', null)
      .executeTakeFirst()
    if (row === undefined) throw notFound()
    const secret = unseal(parts.signIn.sealKey, userId, row.sealed)
    const step = findTotpStep(secret, code, { nowMs, lastStep: row.last_step })
    if (step === null) throw invalidRequest(['code'], 'value', 'This is not the code of this moment.')
    await transaction
      .updateTable('totp')
      .set({ confirmed_at: nowMs, last_step: step })
      .where('user_id', '=', userId)
      .execute()
  })
}

export async function removeTotp(parts: SignInParts, session: Session): Promise<void> {
  const userId = session.user.id
  await change(parts, session.principal, ownAction('totp:remove', userId), async (transaction) => {
    await lockOrganizationsOf(transaction, userId)
    const removed = await transaction.deleteFrom('totp').where('user_id', '=', userId).returning('user_id').execute()
    if (removed.length === 0) throw notFound()
    await requireWayPast(parts, transaction, userId)
  })
}

/** Makes ten new codes in the place of all before. The answer is the only place where they can be read. */
export async function renewRecoveryCodes(parts: SignInParts, session: Session): Promise<readonly string[]> {
  const userId = session.user.id
  const codes = createRecoveryCodes()
  await change(parts, session.principal, ownAction('recovery-codes:create', userId), async (transaction) => {
    await transaction.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
    const rows = codes.map((code) => {
      return { hash: hashRecoveryCode(parts.hashSecret, code), user_id: userId, used_at: null }
    })
    await transaction.insertInto('recovery_codes').values(rows).execute()
  })
  return codes
}
