import type { ErrorPath } from '../../../core/error.ts'
import type { Message, Tool } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import { addMark, isMarkable, longest, markOf, type Mark } from './carry-marks.ts'
import type { WireCacheControl } from './content-schema.ts'
import type { CountBody } from './schema.ts'

type Prompt = { readonly tools: readonly Tool[]; readonly messages: readonly Message[] }
type MarkedPrompt = Prompt & {
  readonly continuesFinalMessage: boolean
  /** The mark of what was left out before the first message. */
  readonly leadingMark: Mark
}

// The number the format allows, the top-level mark included.
const marksMax = 4

/** The mark of a block, to be spread into it. One inside it counts for all of it: where a part ends is not known. */
export function decodeMark(block: MarkableBlock): Mark {
  const { cache_control: control } = block
  const own: Mark = control === undefined ? {} : { cacheBreakpoint: { lifetime: control.ttl ?? '5m' } }
  const inside = contentOf(block)?.blocks
  return Array.isArray(inside) ? (inside as readonly MarkableBlock[]).map(decodeMark).reduce(longest, own) : own
}

/**
 * Checks the marks of a request and applies the top-level one, which stands for
 * a mark on the last block that can carry one.
 */
export function applyCacheMarks(body: CountBody, { leadingMark, ...prompt }: MarkedPrompt): Prompt {
  const marks = [...marksOf(body)]
  const explicit = marks.length
  const marked = { ...prompt, tools: markLastTool(prompt.tools, leadingMark) }
  if (body.cache_control === undefined) {
    refuseTooMany(explicit, [])
    refuseLongAfterShort(marks)
    return marked
  }
  const lifetime = body.cache_control.ttl ?? '5m'
  const present = lastMark(marked, marks)
  if (present !== null && present.lifetime !== lifetime) {
    const text = `The last block already has cache_control with ttl ${present.lifetime}`
    throw fieldError(['cache_control', 'ttl'], 'value', text)
  }
  refuseTooMany(present === null ? explicit + 1 : explicit, ['cache_control'])
  refuseLongAfterShort([...marks, { lifetime, path: ['cache_control', 'ttl'], isInside: false }])
  return present === null ? markLastBlock(marked, { cacheBreakpoint: { lifetime } }) : marked
}

type LocatedMark = {
  readonly lifetime: '5m' | '1h'
  readonly path: ErrorPath
  /** It stands on a block inside another one. */
  readonly isInside: boolean
}

/** Every mark on a block, in the order in which the blocks are processed; those on blocks that will be dropped included. */
function* marksOf({ tools, system, messages }: CountBody): Generator<LocatedMark> {
  yield* marksOfBlocks(tools, ['tools'])
  yield* marksOfBlocks(system, ['system'])
  for (const [index, { content }] of messages.entries()) yield* marksOfBlocks(content, ['messages', index, 'content'])
}

function* marksOfBlocks(blocks: unknown, path: ErrorPath, isInside = false): Generator<LocatedMark> {
  if (!Array.isArray(blocks)) return
  for (const [index, block] of (blocks as readonly MarkableBlock[]).entries()) {
    const own = [...path, index]
    // What a block contains ends before the block does.
    const inside = contentOf(block)
    if (inside !== null) yield* marksOfBlocks(inside.blocks, [...own, ...inside.path], true)
    if (block.cache_control !== undefined) {
      yield { lifetime: block.cache_control.ttl ?? '5m', path: [...own, 'cache_control', 'ttl'], isInside }
    }
  }
}

type MarkableBlock = {
  readonly type?: string | undefined
  readonly cache_control?: WireCacheControl
  readonly content?: unknown
  readonly source?: object | string
}

/** The blocks inside a block. What another service wrote into a history was not checked, and may be anything. */
function contentOf({ type, content, source }: MarkableBlock): { blocks: unknown; path: ErrorPath } | null {
  switch (type) {
    case 'tool_result':
    case 'search_result':
      return { blocks: content, path: ['content'] }
    case 'document':
      return {
        blocks: typeof source === 'object' && 'content' in source ? source.content : [],
        path: ['source', 'content'],
      }
    default:
      return null
  }
}

/** A prefix that is kept for an hour cannot contain one that is kept for less. */
function refuseLongAfterShort(marks: readonly LocatedMark[]): void {
  const firstShort = marks.findIndex(({ lifetime }) => lifetime === '5m')
  const late = marks.find(({ lifetime }, index) => lifetime === '1h' && firstShort >= 0 && index > firstShort)
  if (late === undefined) return
  const text =
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. " +
    'Note that blocks are processed in the following order: `tools`, `system`, `messages`.'
  throw fieldError(late.path, 'value', text)
}

function refuseTooMany(count: number, path: ErrorPath): void {
  if (count <= marksMax) return
  const text = `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${count}.`
  throw fieldError(path.length === 0 ? ['cache_control'] : path, 'value', text)
}

/** A turn that is to be continued carries no mark: what is kept ends before it. */
function lastMarkable({
  messages,
  continuesFinalMessage,
}: Pick<MarkedPrompt, 'messages' | 'continuesFinalMessage'>): number {
  const settled = continuesFinalMessage ? messages.slice(0, -1) : messages
  return settled.findLastIndex(({ content }) => content.some(isMarkable))
}

/** What the last of all marks says, where it is one of the last block itself. */
function lastMark(prompt: Omit<MarkedPrompt, 'leadingMark'>, marks: readonly LocatedMark[]): LocatedMark | null {
  const message = prompt.messages[lastMarkable(prompt)]
  const block = message === undefined ? prompt.tools.at(-1) : message.content.findLast(isMarkable)
  const last = marks.at(-1)
  if (block === undefined || last === undefined || last.isInside) return null
  return markOf(block).cacheBreakpoint === undefined ? null : last
}

function markLastBlock(prompt: Omit<MarkedPrompt, 'leadingMark'>, mark: Mark): Prompt {
  const { messages, tools } = prompt
  const index = lastMarkable(prompt)
  const message = messages[index]
  if (message === undefined) return { messages, tools: markLastTool(tools, mark) }
  return { messages: messages.with(index, markLastOf(message, mark)), tools }
}

function markLastTool(tools: readonly Tool[], mark: Mark): readonly Tool[] {
  const last = tools.at(-1)
  return last === undefined ? tools : tools.with(-1, addMark(last, mark))
}

function markLastOf({ role, content }: Message, mark: Mark): Message {
  const last = content.findLastIndex(isMarkable)
  return { role, content: content.map((block, at) => (at === last ? addMark(block, mark) : block)) } as Message
}
