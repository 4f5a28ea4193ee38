/** Hands items from producers that push to one consumer that awaits. */
export interface AsyncQueue<Item> {
  push(item: Item): void
  next(): Promise<Item>
}

export function createAsyncQueue<Item>(): AsyncQueue<Item> {
  const items: Item[] = []
  let deliver: ((item: Item) => void) | null = null
  return {
    push(item) {
      if (deliver === null) {
        items.push(item)
        return
      }
      const give = deliver
      deliver = null
      give(item)
    },
    next() {
      const item = items.shift()
      if (item !== undefined) return Promise.resolve(item)
      return new Promise((resolve) => {
        deliver = resolve
      })
    },
  }
}
