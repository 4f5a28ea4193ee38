import { ok } from 'node:assert/strict'

/**
 * Begins to watch how much processor time this process takes, and returns the check.
 *
 * What must not take long whatever it is given is held to processor time: on a
 * busy machine the clock says how busy it is.
 */
export function startCpuBudget(budgetMs: number): (what?: string) => void {
  const before = process.cpuUsage()
  return (what = 'It') => {
    const usedMs = process.cpuUsage(before).user / 1_000
    ok(usedMs < budgetMs, `${what} took ${Math.round(usedMs)} ms of processor time.`)
  }
}
