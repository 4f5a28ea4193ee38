/** A part of a request whose text stands in the prompt. */
export type Block = {
  readonly label: string
  readonly kind: 'tool' | 'text' | 'thinking' | 'call'
  /** Of a tool or a call its name. */
  readonly text: string
  /** What stands behind the name, each value by itself: notations differ. */
  readonly values: readonly string[]
  /** How long the prompt up to here is to be kept; null where nobody asked. */
  readonly lifetime: '5m' | '1h' | null
}

export type Span = { readonly start: number; readonly end: number }

export type Search = {
  readonly rendered: string
  /** How far from the beginning the first block may begin. */
  readonly reach: number
  /** Stands somewhere among the blocks and is none of theirs. */
  readonly apart: Span
}

/** Markup between two blocks, and between two values of one, is shorter than this. */
const betweenBlocks = 500
const betweenValues = 200
const behindThinking = 64

/**
 * Where blocks are that stand one behind the other.
 *
 * One that is not near the end of the one before it was left out: further on its text would
 * be a chance likeness. It is empty, and where the one before it ends.
 */
export function findInOrder(blocks: readonly Block[], search: Search): Map<Block, Span> {
  const spans = new Map<Block, Span>()
  let at = 0
  let left = search.reach
  for (const [index, block] of blocks.entries()) {
    const find = block.kind === 'thinking' ? findThinking : findBlock
    const span = find(search, block, { start: at, end: at + left }, blocks[index + 1])
    at = span?.end ?? at
    spans.set(block, span ?? { start: at, end: at })
    left = span === null ? left + block.text.length + block.values.join('').length : betweenBlocks
  }
  return spans
}

/** Templates leave most thinking out, and answers repeat it: it is there only if what comes next stands behind it. */
function findThinking(search: Search, { text }: Block, within: Span, next: Block | undefined): Span | null {
  const span = findWord(search, text, within)
  if (span === null || next === undefined) return span
  const first = findBlock(search, next, within)
  if (first !== null && first.start < span.start) return null
  const behind = { start: span.end, end: span.end + behindThinking }
  return findBlock(search, next, behind) === null ? null : span
}

function findBlock(search: Search, { kind, text, values }: Block, within: Span): Span | null {
  if (kind === 'text' || kind === 'thinking') return findWord(search, text, within)
  const { rendered } = search
  // In JSON a name is quoted, and so told from its likeness in some description.
  for (const name of [JSON.stringify(text), text]) {
    for (let start = within.start; ;) {
      const found = findWord(search, name, { start, end: within.end })
      if (found === null) break
      const isFollowed = values.slice(0, 3).some((value) => endOfNext(rendered, value, found.end) !== null)
      if (isFollowed || values.length === 0)
        return { start: found.start, end: endOfValues(rendered, values, found.end) }
      start = found.start + 1
    }
  }
  return null
}

function endOfValues(rendered: string, values: readonly string[], from: number): number {
  const end = values.reduce((at, value) => endOfNext(rendered, value, at) ?? at, from)
  const closing = /["\]}]*/y
  closing.lastIndex = end
  return end + (closing.exec(rendered)?.[0].length ?? 0)
}

/** Where a value ends that begins soon, in the notation of JSON or as it is. */
function endOfNext(rendered: string, value: string, from: number): number | null {
  for (const spelling of [JSON.stringify(value).slice(1, -1), value]) {
    const found = rendered.slice(from, from + betweenValues + spelling.length).indexOf(spelling)
    if (found !== -1) return from + found + spelling.length
  }
  return null
}

/** A text that begins within a span and is not part of a longer word: short ones stand in the markup too. */
function findWord({ rendered, apart }: Search, text: string, within: Span): Span | null {
  if (text === '') return null
  const isAcross = within.start <= apart.start && within.end > apart.start
  const last = isAcross ? within.end + apart.end - apart.start : within.end
  const searched = rendered.slice(within.start, Math.min(rendered.length, last) + text.length)
  for (let found = searched.indexOf(text); found !== -1; found = searched.indexOf(text, found + 1)) {
    const start = within.start + found
    const end = start + text.length
    const isApart = start < apart.end && end > apart.start
    if (!isApart && !isInWord(rendered, start) && !isInWord(rendered, end)) return { start, end }
  }
  return null
}

function isInWord(text: string, at: number): boolean {
  return isLetter(text[at - 1]) && isLetter(text[at])
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character)
}
