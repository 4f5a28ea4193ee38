import type { EngineRequest, Message, TextBlock } from '../../../core/generation.ts'
import { modelSchema } from '../answer/answer-plan.ts'

export type LocatedBlock = Pick<Block, 'label' | 'lifetime'> & {
  /** Where it ends in the rendered prompt, in characters. */
  readonly end: number
}

/** The parts of a request in the order of the conversation, with their texts as they are handed to the template. */
export function blocksOf({ tools, messages }: Pick<EngineRequest, 'tools' | 'messages'>): Block[] {
  const declared = tools.map((tool, index): Block => {
    const label = `tool ${index + 1} (${tool.name})`
    const values = plainValues([tool.description, modelSchema(tool)])
    return { label, kind: 'tool', text: tool.name, values, lifetime: lifetimeOf(tool) }
  })
  const said = messages.flatMap(({ role, content }, index) =>
    content.map((block, part): Block => {
      const label = `${role} message ${index + 1}, block ${part + 1}`
      return { label, ...contentOf(block), lifetime: lifetimeOf(block) }
    }),
  )
  return [...declared, ...said]
}

/**
 * Finds where each block ends in the rendered prompt, and sorts them by that.
 *
 * Tools stand before or behind the system text, as the template will have it. A block
 * that the template left out or wrote in another way ends where the one before it does.
 */
export function locateBlocks(rendered: string, blocks: readonly Block[]): LocatedBlock[] {
  const tools = blocks.filter(({ kind }) => kind === 'tool')
  const said = blocks.filter(({ kind }) => kind !== 'tool')
  const declared = findInOrder(tools, { rendered, reach: rendered.length, apart: { start: 0, end: 0 } })
  const places = [...declared.values()].filter(({ end }) => end > 0)
  const apart = { start: places[0]?.start ?? 0, end: places.at(-1)?.end ?? 0 }
  const spans = new Map([...declared, ...findInOrder(said, { rendered, reach: preamble, apart })])
  return blocks
    .map((block) => ({ label: block.label, lifetime: block.lifetime, end: spans.get(block)?.end ?? 0 }))
    .toSorted((a, b) => a.end - b.end)
}

/** Text that a template puts before the conversation is shorter than this. */
const preamble = 10_000

function lifetimeOf(part: object): Block['lifetime'] {
  const { cacheBreakpoint } = part as Pick<TextBlock, 'cacheBreakpoint'>
  return cacheBreakpoint?.lifetime ?? null
}

type AnyBlock = Message['content'][number]

function contentOf(block: AnyBlock): Pick<Block, 'kind' | 'text' | 'values'> {
  switch (block.kind) {
    case 'text':
    case 'thinking':
      return { kind: block.kind, text: block.text.trim(), values: [] }
    case 'tool-call':
      return { kind: 'call', text: block.name, values: argumentsOf(block.arguments) }
    case 'tool-result': {
      const texts = block.content.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
      return { kind: 'text', text: texts.join('\n').trim(), values: [] }
    }
    case 'image':
      return { kind: 'text', text: '', values: [] }
  }
}

function argumentsOf(text: string): string[] {
  try {
    return plainValues(JSON.parse(text))
  } catch {
    return [text]
  }
}

/** The end is looked for behind this many values at most, because a client may send a million. */
const valuesMax = 1_000

/** The names and the plain values in a JSON value, in the order in which they are written. */
function plainValues(value: unknown, found: string[] = []): string[] {
  if (found.length >= valuesMax) return found
  if (Array.isArray(value)) for (const item of value) plainValues(item, found)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) plainValues(member, plainValues(key, found))
  } else if (value !== '') found.push(String(value))
  return found
}

/** A part of a request whose text stands in the prompt. */
type Block = {
  readonly label: string
  readonly kind: 'tool' | 'text' | 'thinking' | 'call'
  /** The text of the block, or the name of a tool or a call. */
  readonly text: string
  /** What stands behind the name, each value by itself: notations differ. */
  readonly values: readonly string[]
  /** How long the prompt up to here is to be kept; null where nobody asked. */
  readonly lifetime: '5m' | '1h' | null
}

type Span = { readonly start: number; readonly end: number }

type Region = {
  readonly rendered: string
  /** How far from the beginning the first block may begin. */
  readonly reach: number
  /** Stands somewhere among the blocks and is none of theirs. */
  readonly apart: Span
}

type Search = Region & {
  /** What may still be looked through; blocks that are not found by then are taken to be left out. */
  readonly effort: { charactersLeft: number }
}

/**
 * The characters that are looked through for each one of the prompt, and for any prompt. Where every block is a few
 * characters half of it is needed; a client can have names stand in its texts so often that no number would do.
 */
const effortPerCharacter = 64
const effortAtLeast = 10_000_000

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
function findInOrder(blocks: readonly Block[], region: Region): Map<Block, Span> {
  const charactersLeft = region.rendered.length * effortPerCharacter + effortAtLeast
  const search = { ...region, effort: { charactersLeft } }
  const spans = new Map<Block, Span>()
  let at = 0
  let left = region.reach
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
  const firstValues = values.slice(0, 3).map(spellingsOf)
  // In JSON a name is quoted, and so told from its likeness in some description.
  for (const name of [JSON.stringify(text), text]) {
    for (let start = within.start; ;) {
      const found = findWord(search, name, { start, end: within.end })
      if (found === null) break
      const isFollowed = firstValues.some((spellings) => endOfNext(search, spellings, found.end) !== null)
      if (isFollowed || values.length === 0) return { start: found.start, end: endOfValues(search, values, found.end) }
      start = found.start + 1
    }
  }
  return null
}

function endOfValues(search: Search, values: readonly string[], from: number): number {
  const end = values.reduce((at, value) => endOfNext(search, spellingsOf(value), at) ?? at, from)
  const closing = /["\]}]*/y
  closing.lastIndex = end
  return end + (closing.exec(search.rendered)?.[0].length ?? 0)
}

/** A value in the notation of JSON, and as it is. */
function spellingsOf(value: string): ReadonlySet<string> {
  return new Set([JSON.stringify(value).slice(1, -1), value])
}

/** Where a long value begins is looked for by this much of it. */
const headCharacters = 64

/** Where a value ends that begins soon. */
function endOfNext({ rendered, effort }: Search, spellings: ReadonlySet<string>, from: number): number | null {
  for (const spelling of spellings) {
    const head = spelling.slice(0, headCharacters)
    const near = rendered.slice(from, from + betweenValues + head.length)
    effort.charactersLeft -= near.length
    for (let found = near.indexOf(head); found !== -1; found = near.indexOf(head, found + 1)) {
      effort.charactersLeft -= spelling.length
      if (rendered.startsWith(spelling, from + found)) return from + found + spelling.length
      if (effort.charactersLeft < 0) return null
    }
  }
  return null
}

/** A text that begins within a span and is not part of a longer word: short ones stand in the markup too. */
function findWord({ rendered, apart, effort }: Search, text: string, within: Span): Span | null {
  if (text === '') return null
  const isAcross = within.start <= apart.start && within.end > apart.start
  const last = isAcross ? within.end + apart.end - apart.start : within.end
  const searched = rendered.slice(within.start, Math.min(rendered.length, last) + text.length)
  for (let from = 0; effort.charactersLeft > 0;) {
    const found = searched.indexOf(text, from)
    effort.charactersLeft -= (found === -1 ? searched.length : found + text.length) - from
    if (found === -1) return null
    const start = within.start + found
    const end = start + text.length
    const isApart = start < apart.end && end > apart.start
    if (!isApart && !isInWord(rendered, start) && !isInWord(rendered, end)) return { start, end }
    from = found + 1
  }
  return null
}

function isInWord(text: string, at: number): boolean {
  return isLetter(text[at - 1]) && isLetter(text[at])
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character)
}
