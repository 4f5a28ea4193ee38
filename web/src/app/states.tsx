import type { UseQueryResult } from '@tanstack/react-query'
import { useEffect, type ReactNode } from 'react'
import { toProblem, type FieldFault, type Problem } from '../api/problem.ts'
import { Button } from '../kit/button.tsx'
import { CopyButton } from '../kit/copy-button.tsx'
import styles from '../kit/page.module.css'
import { Skeleton } from '../kit/skeleton.tsx'
import { sayToWhoFilters } from '../lib/voice.ts'

/** Nothing is there yet: what it is for, and the one thing to do about it. */
export function Empty({
  children,
  action,
  command,
}: {
  readonly children: ReactNode
  readonly action?: ReactNode
  readonly command?: string
}) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
      {command !== undefined && (
        <div className={styles.row}>
          <span>or</span> <code>{command}</code> <CopyButton text={command} />
        </div>
      )}
    </div>
  )
}

export function NothingMatches({ what, onClear }: { readonly what: string; readonly onClear: () => void }) {
  const words = `No ${what} match these filters.`
  useEffect(() => sayToWhoFilters(words), [words])
  return <Empty action={<Button onClick={onClear}>Clear filters</Button>}>{words}</Empty>
}

/** What failed, in the service's own words, with the id that its log has. */
export function ProblemBox({
  problem,
  what,
  onAgain,
}: {
  readonly problem: Problem
  readonly what: string
  readonly onAgain?: () => void
}) {
  return (
    <div className={styles.problem} role="alert">
      <strong>{what}</strong>
      <p>{wordsOf(problem)}</p>
      {problem.requestId !== null && (
        <div className={styles.row}>
          <code>{problem.requestId}</code> <CopyButton text={problem.requestId} name="Copy request id" />
        </div>
      )}
      {problem.status >= 400 && problem.kind !== 'not-found' && (
        <a href={`/docs/errors#${problem.kind}`}>What this error means</a>
      )}
      {onAgain !== undefined && <Button onClick={onAgain}>Try again</Button>}
    </div>
  )
}

/** Each field that was refused, with why. */
export function wordsOfFaults(faults: readonly FieldFault[]): string {
  return faults.map(({ path, message }) => `${path}: ${message}`).join(' ')
}

/** A problem in a sentence or two: what happened and what it means. */
export function wordsOf({ kind, message, status, faults }: Problem): string {
  if (faults.length > 0) return wordsOfFaults(faults)
  if (kind === 'not-found')
    return 'There is no such thing, or it belongs to an organization or a project you are not in.'
  if (kind === 'internal' && status >= 500) return 'Something failed on our side. Nothing was changed.'
  return message
}

type LoadedProps<Data> = {
  readonly query: UseQueryResult<Data>
  readonly what: string
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

/** A query's data in each of its states: rows to come, a problem, or what came, dimmed while newer is fetched. */
export function Loaded<Data>({ query, what, rows, children }: LoadedProps<Data>) {
  const again = () => void query.refetch()
  if (query.data === undefined) {
    if (query.error === null) return <Skeleton {...(rows !== undefined && { rows })} />
    return <ProblemBox problem={toProblem(query.error)} what={`${what} could not be read.`} onAgain={again} />
  }
  return (
    <>
      {query.isPlaceholderData && <div className={styles.progress} />}
      {query.error !== null && (
        <ProblemBox problem={toProblem(query.error)} what={`${what} could not be read anew.`} onAgain={again} />
      )}
      <div
        className={`${styles.stack} ${query.isPlaceholderData ? styles.stale : ''}`}
        aria-busy={query.isPlaceholderData}
      >
        {children(query.data)}
      </div>
    </>
  )
}
