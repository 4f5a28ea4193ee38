import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { projectsQuery, useNoProjectReason } from '../../app/queries.ts'
import { useSearch } from '../../app/router.tsx'
import { useReason } from '../../app/session.ts'
import { faultOf, toBody, type Settings, type Turn } from './conversation.ts'
import { useColumn, type Run } from './run.ts'
import { playgroundSearch, type PlaygroundSearch } from './search.ts'
import type { Texts } from './settings-card.tsx'
import { useDraft } from './use-draft.ts'

export type Playground = ReturnType<typeof usePlayground>

/** A conversation with one model or two: what was said, what comes of it, and what is said next. */
export function usePlayground(organizationId: string) {
  const [search, change] = useSearch(playgroundSearch)
  const draft = useDraft(change)
  const [texts, setTexts] = useState(draft.texts)
  const [turns, setTurns] = useState(draft.turns)
  const [typed, setTyped] = useState(draft.typed)
  const [first, second] = [useColumn(), useColumn()]
  const { projects, projectId, lacksProject } = useProject(organizationId, search.project)
  const [settings, other] = settingsOf(search, texts)
  const both = [
    { name: search.model, column: first, settings },
    { name: search.other, column: second, settings: other },
  ]
  const columns = search.compare ? both : both.slice(0, 1)
  const send = (said: readonly Turn[]) => {
    setTurns(said)
    setTyped('')
    for (const { column, settings: own } of columns) {
      column.start({ organizationId, projectId, format: search.format, body: toBody(own, said) })
    }
  }
  /** An answer becomes part of the conversation when it is gone on from. */
  const goOn = (run: Run | null, added: Turn) => send([...turns, ...answerTurn(run), added])
  const clearColumns = () => both.forEach(({ column }) => column.clear())
  const fault = faultOf(settings)
  const isBusy = columns.some(({ column }) => column.isBusy)
  const reason = lacksProject ?? fault ?? (typed.trim() === '' ? 'Write a message first.' : null)
  const next: readonly Turn[] = typed.trim() === '' ? turns : [...turns, { kind: 'user', text: typed }]
  return {
    organizationId,
    projects,
    projectId,
    lacksProject,
    search,
    change,
    /** Whether a request that was opened here has something that is not shown. */
    isPartial: draft.isPartial,
    texts,
    setTexts,
    settings,
    turns,
    next,
    typed,
    setTyped,
    columns,
    isBusy,
    fault,
    reason,
    goOn,
    ask: () => (reason === null && !isBusy ? goOn(first.run, { kind: 'user', text: typed }) : undefined),
    stop: () => columns.forEach(({ column }) => column.stop()),
    /** Takes one of two answers for the conversation. */
    keep(run: Run) {
      setTurns([...turns, ...answerTurn(run)])
      clearColumns()
    },
    clear() {
      clearColumns()
      setTurns([])
    },
  }
}

/** The project in which the questions count, of those that take any. */
function useProject(organizationId: string, wanted: string) {
  const unread = useReason(organizationId, 'projects:read')
  const read = useQuery({ ...projectsQuery(organizationId), enabled: unread === null }).data
  const projects = read?.filter(({ archivedAt }) => archivedAt === null) ?? []
  const projectId = projects.find(({ id }) => id === wanted)?.id ?? projects[0]?.id ?? ''
  return { projects, projectId, lacksProject: useNoProjectReason(organizationId) }
}

function settingsOf(search: PlaygroundSearch, texts: Texts): readonly [Settings, Settings] {
  const { format, model, other, thinking, otherThinking, max, temperature } = search
  const shared = { format, outputTokensMax: max, temperature, more: search, ...texts }
  return [
    { ...shared, model, thinking },
    { ...shared, model: other, thinking: otherThinking },
  ]
}

function answerTurn(run: Run | null): readonly Turn[] {
  if (run === null || (run.text === '' && run.calls.length === 0)) return []
  return [{ kind: 'assistant', text: run.text, calls: run.calls }]
}
