import { useRef, useState } from 'react'
import type { AskOptions } from '../api/client.ts'
import { toProblem, type Problem } from '../api/problem.ts'
import { unsavedForms } from '../lib/unsaved-forms.ts'
import { queryClient } from './session.ts'

export type Change<Given> = {
  /** Resolves with whether it was made. */
  run(given: Given): Promise<boolean>
  readonly isBusy: boolean
  readonly problem: Problem | null
  faultOf(path: string): string | undefined
  reset(): void
}

type Settings<Answer> = {
  readonly touches: readonly (readonly unknown[])[]
  readonly onDone?: (answer: Answer) => void
}

/**
 * A change that is shown as made only when the service has made it.
 *
 * One that is sent again because no answer came is carried out once: until it succeeds it has one idempotency key, for
 * routes that take one.
 */
export function useChange<Given, Answer>(
  work: (given: Given, options: AskOptions) => Promise<Answer>,
  { touches, onDone }: Settings<Answer>,
): Change<Given> {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const key = useRef(crypto.randomUUID())
  const run = async (given: Given): Promise<boolean> => {
    setBusy(true)
    setProblem(null)
    try {
      const answer = await work(given, { idempotencyKey: key.current })
      key.current = crypto.randomUUID()
      unsavedForms.saved()
      await Promise.all(touches.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
      onDone?.(answer)
      return true
    } catch (error) {
      unsavedForms.refused()
      const found = toProblem(error)
      // What was refused may be changed and sent again, as another request.
      if (!found.isPassing) key.current = crypto.randomUUID()
      setProblem(found)
      return false
    } finally {
      setBusy(false)
    }
  }
  const faultOf = (path: string) =>
    problem?.faults.find((fault) => fault.path === path || fault.path.startsWith(`${path}.`))?.message
  return { run, isBusy, problem, faultOf, reset: () => setProblem(null) }
}
