type Entry<Item> = { readonly item: Item; readonly rank: number }

/** Gives back items in the order of their ranks, the lowest first. */
export function createMinHeap<Item>() {
  const entries: Entry<Item>[] = []

  function push(item: Item, rank: number): void {
    const entry = { item, rank }
    let place = entries.length
    for (; place > 0; place = parentOf(place)) {
      const parent = entries[parentOf(place)]
      if (parent === undefined || parent.rank <= rank) break
      entries[place] = parent
    }
    entries[place] = entry
  }

  function pop(): Entry<Item> | null {
    const first = entries[0]
    const last = entries.pop()
    if (first === undefined || last === undefined) return null
    if (entries.length > 0) sink(last)
    return first
  }

  /** Puts an entry in the place of the first, below everything that ranks lower. */
  function sink(entry: Entry<Item>): void {
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      const child = (entries[left + 1]?.rank ?? Infinity) < (entries[left]?.rank ?? Infinity) ? left + 1 : left
      const lower = entries[child]
      if (lower === undefined || lower.rank >= entry.rank) break
      entries[place] = lower
      place = child
    }
    entries[place] = entry
  }

  return { push, pop }
}

function parentOf(place: number): number {
  return Math.floor((place - 1) / 2)
}
