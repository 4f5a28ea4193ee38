// What an organization has before anything is set for it: its plan of limits, which is its usage tier, and the class in which
// its requests wait.

/** The tiers, each with more than the one before it; `internal` is for the operator's own organizations. */
export const tierIds = ['tier-1', 'tier-2', 'tier-3', 'tier-4', 'internal'] as const
export type TierId = (typeof tierIds)[number]

/** The tier of an organization that is made. */
export const firstTier: TierId = 'tier-1'
/** The tier of the organization that every installation has. */
export const homeTier: TierId = 'internal'

/** Whether what exceeds the limits of a tier is refused; otherwise it is counted and shown. */
export function isEnforced(tier: TierId): boolean {
  return tier !== 'internal'
}

/** How soon a request has its turn where requests wait, from the soonest to the latest. */
export const priorities = ['interactive', 'standard', 'batch'] as const
export type Priority = (typeof priorities)[number]

/** Where nothing is set for an organization. */
export const standardPriority: Priority = 'standard'

/** What a key has: its own class, which is no better than that of its organization, or else that one. */
export function keyPriority(organization: Priority | null, key: Priority | null): Priority {
  const most = organization ?? standardPriority
  if (key === null) return most
  return priorities.indexOf(key) > priorities.indexOf(most) ? key : most
}

/**
 * What a token that was computed for a request of each class counts, of one that was computed for a standard one: so while all of them
 * wait, the classes have turns as 4 : 1 : ¼, and none of them none.
 */
export const costOf: Readonly<Record<Priority, number>> = { interactive: 1 / 4, standard: 1, batch: 4 }
