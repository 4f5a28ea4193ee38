import type { ErrorPath } from '../../../core/error.ts'
import type { Message, Tool } from '../../../core/generation.ts'
import type { WireCacheControl } from './content-schema.ts'
import { fieldError } from '../field-error.ts'
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
  const explicit = cacheLifetimes(body).length
  if (body.cache_control === undefined) {
    refuseTooMany(explicit, [])
    return prompt
  }
  const lifetime = body.cache_control.ttl ?? '5m'
  const present = lastMark(prompt)
  if (present !== null && present.lifetime !== lifetime) {
    const text = `The last block already has cache_control with ttl ${present.lifetime}`
    throw fieldError(['cache_control', 'ttl'], 'value', text)
  }
  refuseTooMany(present === null ? explicit + 1 : explicit, ['cache_control'])
  return present === null ? markLastBlock(prompt, { cacheBreakpoint: { lifetime } }) : prompt
}

/** The lifetime of every mark on a block, those on blocks that will be dropped included. */
function cacheLifetimes(body: CountBody): CacheLifetime[] {
  const found: CacheLifetime[] = []
  const visit = (item: object): void => {
    const { cache_control: cacheControl } = item as { cache_control?: WireCacheControl }
    if (cacheControl !== undefined) found.push(cacheControl.ttl ?? '5m')
    if ('content' in item && Array.isArray(item.content)) item.content.forEach(visit)
  }
  if (typeof body.system !== 'string') body.system?.forEach(visit)
  body.tools?.forEach(visit)
  for (const { content } of body.messages) if (typeof content !== 'string') content?.forEach(visit)
  return found
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
