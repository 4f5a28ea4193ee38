/**
 * Shares an amount out among claimants, each of whom gets no more than it needs.
 *
 * Who needs no more than an equal share gets all of it. What they leave goes to the others one after the other, as
 * they are listed, and not in equal parts: the library computes parts of several prompts one after the other, and each takes
 * a step's base anew.
 */
export function shareOut(needs: readonly number[], amount: number): number[] {
  const shares = needs.map(() => 0)
  const byNeed = needs.map((_, index) => index).toSorted((a, b) => (needs[a] ?? 0) - (needs[b] ?? 0))
  let left = amount
  const give = (index: number) => {
    const share = Math.min(needs[index] ?? 0, left)
    shares[index] = share
    left -= share
  }
  const satisfied = byNeed.findIndex((index, done) => {
    if ((needs[index] ?? 0) > left / (byNeed.length - done)) return true
    give(index)
    return false
  })
  if (satisfied !== -1) for (const index of byNeed.slice(satisfied).toSorted((a, b) => a - b)) give(index)
  return shares
}

/** Shares an amount out among groups, and what each gets among its members. */
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
