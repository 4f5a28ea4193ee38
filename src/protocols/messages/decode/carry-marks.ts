import type { Message, ThinkingBlock, Tool } from '../../../core/generation.ts'

export type Block = Message['content'][number]
export type Mark = Pick<Tool, 'cacheBreakpoint'>

/** Thinking carries no mark; a message with nothing else passes the mark on to the one before it. */
export function isMarkable(block: Block): block is Exclude<Block, ThinkingBlock> {
  return block.kind !== 'thinking'
}

/** The mark of a tool or a block, to be spread into another one. */
export function markOf(part: Tool | Block): Mark {
  return hasMark(part) ? { cacheBreakpoint: part.cacheBreakpoint } : {}
}

function hasMark(part: Tool | Block): part is Exclude<Tool | Block, ThinkingBlock> & Required<Mark> {
  return 'cacheBreakpoint' in part && part.cacheBreakpoint !== undefined
}

/** Adds a mark to a tool or a block; of two the one with the longer lifetime stays. */
export function addMark<Part extends Tool | Block>(part: Part, mark: Mark): Part {
  return { ...part, ...longest(markOf(part), mark) }
}

export function longest(one: Mark, other: Mark): Mark {
  return one.cacheBreakpoint === undefined || other.cacheBreakpoint?.lifetime === '1h' ? other : one
}

/** Says whether a block of the message with this index can carry a mark. */
export type CanCarry = (block: Block, index: number) => boolean

/**
 * Takes the marks off blocks that cannot carry one and gives each to the last block before it that can. The mark that is
 * left over belongs before all messages.
 */
export function carryMarks(
  messages: readonly Message[],
  canCarry: CanCarry,
): { messages: Message[]; leadingMark: Mark } {
  const carried: Message[] = []
  let leadingMark: Mark = {}
  for (const [index, message] of [...messages.entries()].toReversed()) {
    const { role, content } = message
    const carries = (block: Block) => isMarkable(block) && canCarry(block, index)
    // Most messages have no mark to give away and are given none: they stay as they are.
    if (leadingMark.cacheBreakpoint === undefined && content.every((block) => !hasMark(block) || carries(block))) {
      carried.push(message)
      continue
    }
    const blocks: Block[] = []
    for (const block of content.toReversed()) {
      const isCarrier = carries(block)
      blocks.push(isCarrier ? addMark(block, leadingMark) : withoutMark(block))
      leadingMark = isCarrier ? {} : longest(markOf(block), leadingMark)
    }
    carried.push({ role, content: blocks.toReversed() } as Message)
  }
  return { messages: carried.toReversed(), leadingMark }
}

function withoutMark(block: Block): Block {
  if (!('cacheBreakpoint' in block)) return block
  const { cacheBreakpoint: _, ...unmarked } = block
  return unmarked
}
