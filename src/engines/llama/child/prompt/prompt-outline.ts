import type { EngineRequest, Message, TextBlock } from '../../../../core/generation.ts'
import { findInOrder, type Block } from './find-in-order.ts'
import { modelSchema } from '../answer/tool-rules.ts'

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

/** What templates put before a conversation on their own account is shorter than this. */
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

/** No end is looked for behind so many values: they come from a client, who may send a million. */
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
