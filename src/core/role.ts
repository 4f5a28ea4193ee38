export const roles = ['owner', 'admin', 'developer', 'billing', 'auditor'] as const
/** What a member or a management key may do in its organization; `permission.ts` says what that is. */
export type Role = (typeof roles)[number]

/** The roles that each may give to others and take from them: nobody hands out more than they have. */
const grantable: Readonly<Record<Role, readonly Role[]>> = {
  owner: ['owner', 'admin', 'developer', 'billing', 'auditor'],
  admin: ['admin', 'developer', 'billing', 'auditor'],
  developer: [],
  billing: [],
  auditor: [],
}

export function mayGrant(granting: Role, granted: Role): boolean {
  return grantable[granting].includes(granted)
}
