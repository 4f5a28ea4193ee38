import type { Message, TextBlock, ToolResultBlock } from '../core/generation.ts'

const omittedImage: TextBlock = { kind: 'text', text: '[image omitted: model accepts text only]' }

/** A tool's screenshot stays in the history for good; refusing it would end the conversation, so a note takes its place. */
export function withoutToolImages(messages: readonly Message[]): readonly Message[] {
  return mapResults(messages, (block) => {
    return { ...block, content: block.content.map((part) => (part.kind === 'image' ? omittedImage : part)) }
  })
}

/**
 * Puts the results of calls that were made together into the order of the calls.
 *
 * Templates show results without saying which call each belongs to, so that a model tells them apart by their place alone.
 * A client may give them in any order, and leave some out: a note stands where a later one would be taken for them.
 */
export function inOrderOfCalls(messages: readonly Message[]): readonly Message[] {
  const placed = new Map<ToolResultBlock, readonly ToolResultBlock[]>()
  for (const { callIds, results } of roundsOf(messages)) {
    const ordered = orderResults(callIds, results)
    // What is as it should be stays the same object, of which the most are.
    if (ordered.every((group, index) => group.length === 1 && group[0] === results[index])) continue
    for (const [index, group] of ordered.entries()) {
      const before = results[index]
      if (before !== undefined) placed.set(before, withMarkOf(before, group))
    }
  }
  return placed.size === 0 ? messages : mapResults(messages, (block) => placed.get(block) ?? block)
}

/** Calls that were made together, and the results that came before the assistant spoke again. */
type Round = { readonly callIds: Set<string>; readonly results: ToolResultBlock[] }

function roundsOf(messages: readonly Message[]): Round[] {
  const rounds: Round[] = []
  let before: Message['role'] = 'user'
  for (const { role, content } of messages) {
    if (role === 'assistant' && before !== 'assistant') rounds.push({ callIds: new Set(), results: [] })
    const round = rounds.at(-1)
    for (const block of round === undefined ? [] : content) {
      if (block.kind === 'tool-call') round?.callIds.add(block.id)
      if (block.kind === 'tool-result') round?.results.push(block)
    }
    before = role
  }
  return rounds.filter(({ callIds, results }) => callIds.size > 1 && results.length > 0)
}

/** As many groups as there are results, each of one result and the notes that stand before it. */
function orderResults(callIds: ReadonlySet<string>, results: readonly ToolResultBlock[]): ToolResultBlock[][] {
  const byCall = Map.groupBy(results, ({ toolCallId }) => toolCallId)
  const groups: ToolResultBlock[][] = []
  let missing: ToolResultBlock[] = []
  for (const id of callIds) {
    for (const result of byCall.get(id) ?? []) {
      groups.push([...missing, result])
      missing = []
    }
    if (!byCall.has(id)) missing.push(noResult(id))
  }
  // What answers a call of an earlier round stays behind those of this one.
  const others = results.filter(({ toolCallId }) => !callIds.has(toolCallId))
  return [...groups, ...others.map((result) => [result])]
}

function noResult(toolCallId: string): ToolResultBlock {
  const content: TextBlock = { kind: 'text', text: 'No result was given for this call.' }
  return { kind: 'tool-result', toolCallId, isError: true, content: [content] }
}

/** What is to be kept in the cache ends at a place of the conversation, whichever result stands there. */
function withMarkOf(
  { cacheBreakpoint }: ToolResultBlock,
  group: readonly ToolResultBlock[],
): readonly ToolResultBlock[] {
  return group.map(({ cacheBreakpoint: _, ...block }, index) => {
    const isLast = index === group.length - 1
    return isLast && cacheBreakpoint !== undefined ? { ...block, cacheBreakpoint } : block
  })
}

function mapResults(
  messages: readonly Message[],
  map: (block: ToolResultBlock) => ToolResultBlock | readonly ToolResultBlock[],
): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== 'user' || !message.content.some(({ kind }) => kind === 'tool-result')) return message
    return {
      ...message,
      content: message.content.flatMap((block) => (block.kind === 'tool-result' ? map(block) : block)),
    }
  })
}
