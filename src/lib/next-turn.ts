/**
 * Lets everything else have its turn first. A database in the same thread answers at once, so that whoever reads much of
 * it, a page after the other, would keep all others waiting until the last page.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
