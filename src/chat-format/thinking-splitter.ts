import type { ThinkingTags } from './probe-template.ts'
import { createSpaceStore } from './space-store.ts'

export type SplitText = { readonly kind: 'thinking' | 'text'; readonly text: string }

/**
 * Splits a model's output into thinking and answer at the template's markers.
 *
 * A marker may arrive in pieces, so text that could begin one is held back, and
 * so is the white space before it: templates put it there, it is no thought.
 * Thinking is recognised at the start only: a model that mentions the marker in
 * its answer is quoting it. Where a template lets calls follow from within the
 * thinking, it ends with the first of them.
 */
export function createThinkingSplitter(tags: ThinkingTags | null, startsInside: boolean) {
  let state: 'start' | 'thinking' | 'text' = tags === null ? 'text' : startsInside ? 'thinking' : 'start'
  let held = ''
  const spaces = createSpaceStore()

  function feed(text: string): SplitText[] {
    if (tags === null || state === 'text') return text === '' ? [] : [{ kind: 'text', text }]
    if (spaces.keeps(held, text)) return []
    held += spaces.take() + text
    const parts: SplitText[] = []
    if (state === 'start') atStart(tags, parts)
    if (state === 'thinking') inThinking(tags, parts)
    return parts
  }

  function atStart({ open }: ThinkingTags, parts: SplitText[]): void {
    const lead = held.trimStart()
    if (lead.startsWith(open)) {
      held = lead.slice(open.length)
      state = 'thinking'
    } else if (!open.startsWith(lead)) {
      parts.push({ kind: 'text', text: held })
      held = ''
      state = 'text'
    }
  }

  function inThinking({ close, callOpen }: ThinkingTags, parts: SplitText[]): void {
    const ends = [close, ...(callOpen === undefined ? [] : [callOpen])]
    const found = ends.flatMap((mark) => (held.includes(mark) ? [{ mark, at: held.indexOf(mark) }] : []))
    const [first] = found.toSorted((left, right) => left.at - right.at)
    if (first !== undefined) {
      const thought = held.slice(0, first.at).trimEnd()
      if (thought !== '') parts.push({ kind: 'thinking', text: thought })
      // The mark of a call is a part of the answer.
      const rest = held.slice(first.at + (first.mark === close ? close.length : 0))
      held = ''
      state = 'text'
      if (rest !== '') parts.push({ kind: 'text', text: rest })
      return
    }
    const begun = Math.max(...ends.map((mark) => openPrefixLength(held, mark)))
    const thought = held.slice(0, held.length - begun).trimEnd()
    if (thought !== '') parts.push({ kind: 'thinking', text: thought })
    held = held.slice(thought.length)
  }

  return {
    feed,
    isThinking: () => state === 'thinking',
    /** What comes is the answer. */
    isAnswering: () => state === 'text',
    /** Forces the switch to the answer: the engine has closed the block itself. */
    close(): SplitText[] {
      const kind = state === 'thinking' ? 'thinking' : 'text'
      const text = kind === 'thinking' ? held.trimEnd() : held + spaces.take()
      held = ''
      state = 'text'
      return text === '' ? [] : [{ kind, text }]
    },
  }
}

function openPrefixLength(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(marker.slice(0, length))) return length
  }
  return 0
}
