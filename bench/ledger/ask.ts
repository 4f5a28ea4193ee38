const nameWidth = 50

/** The head of the table in which `ask` writes lines. */
export function printHead(name: string): void {
  console.log(line(name, ['p50 ms', 'p95 ms', 'max ms']))
}

/** Asks a question so often, and prints how long its answers took. */
export async function ask(name: string, runs: number, query: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const startedMs = performance.now()
    await query()
    times.push(performance.now() - startedMs)
  }
  times.sort((a, b) => a - b)
  console.log(
    line(
      name,
      [0.5, 0.95, 1].map((part) => (times[Math.ceil(part * times.length) - 1] ?? 0).toFixed(1)),
    ),
  )
}

/** Asks while somebody reads all rows, one time after the other. */
export async function askMeanwhile(
  name: string,
  runs: number,
  { query, readAll }: { readonly query: () => Promise<unknown>; readonly readAll: () => Promise<unknown> },
): Promise<void> {
  let isOver = false
  const readOn = async () => {
    while (!isOver) await readAll()
  }
  const reading = readOn()
  await ask(name, runs, query)
  isOver = true
  await reading
}

function line(name: string, cells: readonly string[]): string {
  return `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padStart(9)).join('')}`
}
