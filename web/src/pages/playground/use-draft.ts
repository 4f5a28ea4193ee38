import { useEffect, useRef, useState } from 'react'
import { takeOver } from '../../app/playground-draft.ts'
import type { Turn } from './conversation.ts'
import { readBody } from './read-body.ts'
import type { PlaygroundSearch } from './search.ts'
import type { Texts } from './settings-card.tsx'

type Draft = {
  readonly texts: Texts
  readonly turns: readonly Turn[]
  /** What was said last, to be written anew. */
  readonly typed: string
  readonly isPartial: boolean
  readonly search: Partial<PlaygroundSearch>
}

const nothing: Draft = {
  texts: { system: '', tools: '', schema: '' },
  turns: [],
  typed: '',
  isPartial: false,
  search: {},
}

/** What the page begins with: a request that was left for it, whose settings go into the address, or nothing. */
export function useDraft(change: (search: Partial<PlaygroundSearch>) => void): Draft {
  const [draft] = useState(takeDraft)
  const isTold = useRef(false)
  useEffect(() => {
    if (isTold.current || draft === nothing) return
    isTold.current = true
    change(draft.search)
  }, [draft, change])
  return draft
}

function takeDraft(): Draft {
  const left = takeOver()
  const read = left === null ? null : readBody(left.format, left.body)
  if (left === null || read === null) return nothing
  const last = read.turns.at(-1)
  const said = last?.kind === 'user' ? { turns: read.turns.slice(0, -1), typed: last.text } : { typed: '' }
  return { ...read, ...said, search: { ...read.search, project: left.projectId } }
}
