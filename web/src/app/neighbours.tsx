import { useMemo } from 'react'
import { IconButton } from '../kit/button.tsx'
import { location } from '../lib/location.ts'
import { useKeys } from './shortcuts.ts'

type Props = {
  /** What the records are called, one of them. */
  readonly what: string
  /** In the order of the list that led here, under its filter; null while it is read. */
  readonly hrefs: readonly string[] | null
  readonly current: string
  /** Called at the end of what is known of the list. */
  readonly onEnd?: () => void
  /** Why nothing follows the last one that is known, where that is not the end of the list. */
  readonly atEnd?: string | undefined
}

export const stillRead = 'The list is still being read.'

/** The way to the record before and after this one, as the list has them, by button and by `[` and `]`. */
export function Neighbours({ what, hrefs: known, current, onEnd, atEnd }: Props) {
  const hrefs = known ?? []
  const at = hrefs.indexOf(current)
  const before = at > 0 ? hrefs[at - 1] : undefined
  const after = at === -1 ? undefined : hrefs[at + 1]
  const go = (href: string | undefined) => {
    if (href !== undefined) void location.go(href, { replace: true })
    // The rest of the list comes while this record is looked at.
    if (at >= hrefs.length - 2) onEnd?.()
  }
  useKeys(
    useMemo(
      () => ({ '[': () => go(before), ']': () => go(after) }),
      // eslint-disable-next-line react-hooks/exhaustive-deps -- The way there follows from these two.
      [before, after],
    ),
  )
  if (known?.length === 0) return null
  const none = known === null ? stillRead : at === -1 ? `This ${what} is not in the list that you came from.` : null
  return (
    <>
      <IconButton
        icon="left"
        name={`Previous ${what} [`}
        reason={before === undefined ? (none ?? `This is the first ${what} of the list.`) : null}
        onClick={() => go(before)}
      />
      <IconButton
        icon="right"
        name={`Next ${what} ]`}
        reason={after === undefined ? (none ?? atEnd ?? `This is the last ${what} of the list.`) : null}
        onClick={() => go(after)}
      />
    </>
  )
}
