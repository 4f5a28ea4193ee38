/** Runs one piece of work after the other, in the order in which they were given; a failure is its own work's alone. */
export function createTurns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}

/**
 * Lets everything else have its turn first. A database in the same thread answers at once, so that whoever reads much of
 * it, a page after the other, would keep all others waiting until the last page.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
