import type { Problem } from '../api/problem.ts'
import { Banner } from '../kit/page.tsx'
import { wordsOf, wordsOfFaults } from './states.tsx'

/** What of a refused change is not said at one of its fields. */
export function ChangeProblem({
  problem,
  shown = [],
}: {
  readonly problem: Problem | null
  readonly shown?: readonly string[]
}) {
  if (problem === null) return null
  const others = problem.faults.filter(
    ({ path }) => !shown.some((field) => path === field || path.startsWith(`${field}.`)),
  )
  if (problem.faults.length > 0 && others.length === 0) return null
  return (
    <Banner kind="bad">
      {others.length > 0 ? wordsOfFaults(others) : wordsOf(problem)}{' '}
      {problem.requestId !== null && <code>{problem.requestId}</code>}
    </Banner>
  )
}
