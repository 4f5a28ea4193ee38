import type { ErrorPath } from '../../../core/error.ts'
import type { Message, Tool } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { WireCacheControl } from './content-schema.ts'
import type { CountBody } from './schema.ts'

type CacheLifetime = '5m' | '1h'
type Mark = { readonly cacheBreakpoint?: { readonly lifetime: CacheLifetime } }
type Prompt = { readonly tools: readonly Tool[]; readonly messages: readonly Message[] }

// The number the format allows, the top-level mark included.
const marksMax = 4

/** The mark of a block, to be spread into it. */
export function decodeMark(cacheControl: WireCacheControl): Mark {
  return cacheControl === undefined ? {} : { cacheBreakpoint: { lifetime: cacheControl.ttl ?? '5m' } }
}

/**
 * Checks the marks of a request and applies the top-level one, which stands for
 * a mark on the last block that can carry one.
 */
export function applyCacheMarks(body: CountBody, prompt: Prompt): Prompt {
  const marks = [...marksOf(body)]
  const explicit = marks.length
  if (body.cache_control === undefined) {
    refuseTooMany(explicit, [])
    refuseLongAfterShort(marks)
    return prompt
  }
  const lifetime = body.cache_control.ttl ?? '5m'
  const present = lastMark(prompt)
  if (present !== null && present.lifetime !== lifetime) {
    const text = `The last block already has cache_control with ttl ${present.lifetime}`
    throw fieldError(['cache_control', 'ttl'], 'value', text)
  }
  refuseTooMany(present === null ? explicit + 1 : explicit, ['cache_control'])
  refuseLongAfterShort([...marks, { lifetime, path: ['cache_control', 'ttl'] }])
  return present === null ? markLastBlock(prompt, { cacheBreakpoint: { lifetime } }) : prompt
}

type LocatedMark = { readonly lifetime: CacheLifetime; readonly path: ErrorPath }

/** Every mark on a block, in the order in which the blocks are processed; those on blocks that will be dropped included. */
function* marksOf({ tools, system, messages }: CountBody): Generator<LocatedMark> {
  yield* marksOfBlocks(tools, ['tools'])
  yield* marksOfBlocks(system, ['system'])
  for (const [index, { content }] of messages.entries()) yield* marksOfBlocks(content, ['messages', index, 'content'])
}

function* marksOfBlocks(blocks: unknown, path: ErrorPath): Generator<LocatedMark> {
  if (!Array.isArray(blocks)) return
  for (const [index, block] of (blocks as readonly MarkableBlock[]).entries()) {
    const own = [...path, index]
    // What a block contains ends before the block does.
    if (isChecked(block)) yield* marksOfBlocks(block.content, [...own, 'content'])
    if (block.cache_control !== undefined) {
      yield { lifetime: block.cache_control.ttl ?? '5m', path: [...own, 'cache_control', 'ttl'] }
    }
  }
}

type MarkableBlock = {
  readonly type?: string
  readonly cache_control?: WireCacheControl
  readonly content?: unknown
}

/** Whether what a block contains was checked: what another service wrote into a history may be anything. */
function isChecked({ type }: MarkableBlock): boolean {
  return type === 'tool_result' || type === 'search_result'
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

/** Thinking carries no mark; a message with nothing else passes the mark on to the one before it. */
function lastMarkable(messages: readonly Message[]): number {
  return messages.findLastIndex(({ content }) => content.some(({ kind }) => kind !== 'thinking'))
}

function lastMark({ messages, tools }: Prompt): { readonly lifetime: CacheLifetime } | null {
  const message = messages[lastMarkable(messages)]
  const block = message === undefined ? tools.at(-1) : message.content.findLast(({ kind }) => kind !== 'thinking')
  return (block !== undefined && 'cacheBreakpoint' in block && block.cacheBreakpoint) || null
}

function markLastBlock({ messages, tools }: Prompt, mark: Mark): Prompt {
  const index = lastMarkable(messages)
  const message = messages[index]
  if (message === undefined)
    return { messages, tools: tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...mark } : tool)) }
  return { messages: messages.with(index, markLastOf(message, mark)), tools }
}

function markLastOf(message: Message, mark: Mark): Message {
  const last = message.content.findLastIndex(({ kind }) => kind !== 'thinking')
  const content = message.content.map((block, at) => (at === last ? { ...block, ...mark } : block))
  return { role: message.role, content } as Message
}
