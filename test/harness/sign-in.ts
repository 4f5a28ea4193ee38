import type { AccountsParts } from '../../src/accounts/parts.ts'
import { beginSession } from '../../src/accounts/sign-in/sessions.ts'
import { createUser } from '../../src/accounts/sign-in/users.ts'
import type { MemberId, SessionId } from '../../src/core/ids.ts'
import type { UserPrincipal } from '../../src/core/principal.ts'
import type { Role } from '../../src/core/role.ts'
import { testSignIn } from './management.ts'

export type SignedInPerson = {
  readonly user: UserPrincipal
  readonly sessionId: SessionId
  /** What their browser sends with every request. */
  readonly headers: Readonly<Record<string, string>>
}

/** What a browser says of a request that a page of this service makes. */
export const samePage = { origin: 'https://ai.example.com', 'sec-fetch-site': 'same-origin' } as const

/** A person with a session; with a member's id they are that member. */
export async function signInPerson(
  accounts: AccountsParts,
  { memberId = null, installationRole = null }: { memberId?: MemberId | null; installationRole?: Role | null },
): Promise<SignedInPerson> {
  const parts = { ...accounts, signIn: testSignIn }
  const email = `${crypto.randomUUID()}@example.org`
  const { user, id, token } = await accounts.db.transaction().execute(async (transaction) => {
    const created = await createUser(parts, transaction, { name: 'P', email, installationRole })
    const where = { origin: samePage.origin, address: '192.0.2.1', agent: 'test' }
    const wanted = { userId: created.userId, method: 'passkey', state: 'open', ...where } as const
    return { user: created, ...(await beginSession(parts, transaction, wanted)) }
  })
  if (memberId !== null) {
    await accounts.db.updateTable('members').set({ user_id: user.userId }).where('id', '=', memberId).execute()
  }
  return { user, sessionId: id, headers: { ...samePage, cookie: `__Host-odyssey=${token}` } }
}
