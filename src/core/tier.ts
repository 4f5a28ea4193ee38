// Usage tiers: the plan of limits that an organization has before anything is set for it.

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
