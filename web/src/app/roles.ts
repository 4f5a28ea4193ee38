export const roles = ['owner', 'admin', 'developer', 'billing', 'auditor'] as const
export type Role = (typeof roles)[number]

export const roleChoices = roles.map((role) => ({
  value: role,
  label: `${role.charAt(0).toUpperCase()}${role.slice(1)}`,
}))

/** What a role is for, in a sentence. The service's own table decides what each may. */
export const roleWords: Readonly<Record<Role, string>> = {
  owner: 'Everything, also making management keys and other owners.',
  admin: 'Everything but what owners alone may.',
  developer: 'Own keys, usage and requests in the projects that are shown to them.',
  billing: 'Usage, prices and budgets.',
  auditor: 'Reads everything and changes nothing.',
}

/** Tells whether somebody with this role, or with a part of it, sees only the projects that they were shown. */
export function isShownProjects(role: Role): boolean {
  return role === 'developer'
}
