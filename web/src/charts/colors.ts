const known: Readonly<Record<string, number>> = { 'clarke-1.0': 1, 'hal-1.0': 2, 'tycho-1.0': 3 }
export const othersColor = 'var(--series-others)'

/** A model has one colour on every page; others get theirs by their place. */
export function colorOf(name: string, index: number): string {
  const place = known[name] ?? index + 1
  return place > 6 ? othersColor : `var(--series-${place})`
}
