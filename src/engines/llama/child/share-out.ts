/**
 * Shares an amount out among claimants, each of whom gets no more than it needs.
 *
 * Who needs little gets all of it, and what is left over is shared among the others: nobody could
 * get more without somebody who has less getting less (max-min fairness).
 */
export function shareOut(needs: readonly number[], amount: number): number[] {
  const shares = needs.map(() => 0)
  const byNeed = needs.map((_, index) => index).toSorted((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  let left = amount
  for (const [done, index] of byNeed.entries()) {
    const share = Math.min(needs[index] ?? 0, Math.floor(left / (byNeed.length - done)))
    shares[index] = share
    left -= share
  }
  return shares
}

/** Shares an amount out among groups, and within each among its members. */
export function shareOutInGroups(
  claims: readonly { readonly group: string; readonly need: number }[],
  amount: number,
): number[] {
  const groups = [...Map.groupBy(claims.keys(), (index) => claims[index]?.group ?? '').values()]
  const needOf = (index: number) => claims[index]?.need ?? 0
  const totals = groups.map((members) => members.reduce((sum, index) => sum + needOf(index), 0))
  const shares = claims.map(() => 0)
  for (const [number, groupShare] of shareOut(totals, amount).entries()) {
    const members = groups[number] ?? []
    for (const [position, share] of shareOut(members.map(needOf), groupShare).entries()) {
      const index = members[position]
      if (index !== undefined) shares[index] = share
    }
  }
  return shares
}
