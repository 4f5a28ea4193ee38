import type { Message, TextBlock } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { ThinkingSignature } from '../thinking-signature.ts'
import { decodeMark } from './cache-marks.ts'
import { carryMarks, longest, type Block, type CanCarry, type Mark } from './carry-marks.ts'
import type { WireBlock } from './content-schema.ts'
import { decodeAssistantBlock, decodeSystemBlock, decodeUserBlock } from './decode-content.ts'
import type { CountBody, WireTurn } from './schema.ts'

export type Conversation = {
  readonly messages: readonly Message[]
  readonly continuesFinalMessage: boolean
  /** The mark of what was left out before the first message. */
  readonly leadingMark: Mark
}

/**
 * Decodes the system prompt and the turns into a conversation without empty
 * messages or two neighbours of one role.
 */
export function decodeConversation(body: CountBody, signature: ThinkingSignature): Conversation {
  if (body.messages.length === 0) throw fieldError(['messages'], 'value', 'at least one message is required')
  const lastUser = body.messages.findLastIndex(({ role }) => role === 'user')
  const isShown = (index: number) => index > lastUser || !isForOneTurn(body.messages[index])
  const decoded = body.messages.map((turn, index) => decodeTurn(turn, index, signature))
  const kept = dropEmptyTexts([decodeSystem(body.system), ...decoded], (index) => isShown(index - 1))
  const turns = kept.messages.slice(1)
  checkToolResults(turns, body.messages)
  const shown = turns.filter((_, index) => isShown(index))
  const merged = mergeTurns([...kept.messages.slice(0, 1), ...shown])
  const messages = mergeTurns(dropEarlierThinking(merged)).map(putResultsFirst)
  const settled = carryMarks(messages, canCarry(messages))
  const conversation = finishFinalTurn(settled.messages)
  const isEmpty = conversation.messages.every(({ role }) => role === 'system') && shown.every(isEmptyOrNotSystem)
  if (isEmpty) throw fieldError(['messages'], 'value', 'at least one message with content is required')
  return { ...conversation, leadingMark: longest(kept.leadingMark, settled.leadingMark) }
}

/** Their marks, and those of turns that are not shown, go to what stands before them. */
function dropEmptyTexts(turns: readonly Message[], isShown: (index: number) => boolean) {
  const { messages, leadingMark } = carryMarks(turns, (block, index) => isShown(index) && !isEmptyText(block))
  const kept = messages.map((message) => {
    const { role, content } = message
    return content.some(isEmptyText) ? { role, content: content.filter((block) => !isEmptyText(block)) } : message
  })
  return { messages: kept as Message[], leadingMark }
}

function isEmptyText(block: Block): boolean {
  return block.kind === 'text' && block.text === ''
}

function isEmptyOrNotSystem({ role, content }: Message): boolean {
  return role !== 'system' || content.length === 0
}

function decodeSystem(system: CountBody['system'] = []): Message {
  const blocks = toBlocks(system)
  const first = blocks[0]
  const isAttributed = typeof system !== 'string' && first?.type === 'text' && first.text.startsWith(attributionStart)
  const decode = (block: WireBlock) => (isAttributed && block === first ? [] : decodeSystemBlock(block, ['system']))
  return { role: 'system', content: decodeBlocks(blocks, decode) }
}

// An agent writes its version and a fingerprint of the conversation into a block of its own, in front of
// everything. It says nothing to the model, and where it differs no prefix could be found again.
const attributionStart = 'x-anthropic-billing-header:'

/** The roles agents were seen to use, and what they mean. */
const roles: Readonly<Record<string, Message['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
  tool: 'user',
  ctx: 'user',
  msg: 'user',
}

function decodeTurn(turn: WireTurn, index: number, signature: ThinkingSignature): Message {
  const role = Object.hasOwn(roles, turn.role) ? roles[turn.role] : undefined
  const path = ['messages', index] as const
  if (role === undefined)
    throw fieldError([...path, 'role'], 'value', "Input should be 'user', 'assistant' or 'system'")
  if (turn.content === undefined && role !== 'system')
    throw fieldError([...path, 'content'], 'missing', 'Field required')
  const blocks = toBlocks(turn.content ?? [])
  const at = (block: number) => [...path, 'content', block]
  switch (role) {
    case 'system':
      return { role, content: decodeBlocks(blocks, (block, position) => decodeSystemBlock(block, at(position))) }
    case 'user':
      return { role, content: decodeBlocks(blocks, (block, position) => decodeUserBlock(block, at(position))) }
    case 'assistant': {
      const decode = (block: WireBlock, position: number) => decodeAssistantBlock(block, at(position), signature)
      return { role, content: decodeBlocks(blocks, decode) }
    }
  }
}

/** The mark of a block that says nothing is kept in an empty text, until it is known which block stands before it. */
function decodeBlocks<Decoded>(
  blocks: readonly WireBlock[],
  decode: (block: WireBlock, position: number) => readonly Decoded[],
): (Decoded | TextBlock)[] {
  return blocks.flatMap((block, position): readonly (Decoded | TextBlock)[] => {
    const decoded = decode(block, position)
    const mark = decoded.length === 0 ? decodeMark(block) : {}
    return mark.cacheBreakpoint === undefined ? decoded : [{ kind: 'text', text: '', ...mark }]
  })
}

function toBlocks(content: string | readonly WireBlock[]): readonly WireBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content, cache_control: undefined }] : content
}

/** A result must answer a call of the assistant turn before it; a call without a result is left alone. */
function checkToolResults(turns: readonly Message[], wire: readonly WireTurn[]): void {
  let calls = new Set<string>()
  let isAnswered = false
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'system' || turn.content.length === 0) continue
    if (turn.role === 'assistant') {
      if (isAnswered) calls = new Set()
      for (const id of callIds(turn)) calls.add(id)
    } else {
      const orphan = turn.content.find((block) => block.kind === 'tool-result' && !calls.has(block.toolCallId))
      if (orphan?.kind === 'tool-result') throw orphanError(orphan.toolCallId, index, wire)
    }
    isAnswered = turn.role === 'user'
  }
}

function callIds(turn: Message): string[] {
  return turn.content.flatMap((block) => (block.kind === 'tool-call' ? [block.id] : []))
}

function orphanError(toolCallId: string, index: number, wire: readonly WireTurn[]) {
  const blocks = toBlocks(wire[index]?.content ?? [])
  const position = blocks.findIndex((block) => block.type === 'tool_result' && block.tool_use_id === toolCallId)
  const text = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: the assistant turn before it has no such \`tool_use\` block`
  return fieldError(['messages', index, 'content', position], 'value', text)
}

/** Such a system turn is meant for the user turn it follows and disappears once another one comes. */
function isForOneTurn(turn: WireTurn | undefined): boolean {
  return turn?.role === 'system' && turn.clear_at === 'next_user_message'
}

function mergeTurns(turns: readonly Message[]): Message[] {
  const merged: { readonly role: Message['role']; readonly content: Message['content'][number][] }[] = []
  for (const { role, content } of turns) {
    if (content.length === 0) continue
    const last = merged.at(-1)
    if (last?.role === role) for (const block of content) last.content.push(block)
    else merged.push({ role, content: [...content] })
  }
  return merged as Message[]
}

/** Only the thinking of the running tool loop is of use, which begins after the last turn of the user's own words. */
function dropEarlierThinking(messages: readonly Message[]): Message[] {
  const loopStart = messages.findLastIndex((message) => message.role === 'user' && !hasToolResult(message))
  return messages.map((message, index) =>
    message.role === 'assistant' && index < loopStart
      ? { role: message.role, content: message.content.filter(({ kind }) => kind !== 'thinking') }
      : message,
  )
}

export function hasToolResult(message: Message): boolean {
  return message.role === 'user' && message.content.some(({ kind }) => kind === 'tool-result')
}

/** Templates put results right behind the calls they answer. */
function putResultsFirst(message: Message): Message {
  if (message.role !== 'user' || !hasToolResult(message)) return message
  const results = message.content.filter(({ kind }) => kind === 'tool-result')
  return { role: message.role, content: [...results, ...message.content.filter(({ kind }) => kind !== 'tool-result')] }
}

/** A turn that is to be continued carries no mark, and neither does what a turn that is over loses at its end. */
function canCarry(messages: readonly Message[]): CanCarry {
  const last = messages.at(-1)
  const isContinued = last?.role === 'assistant' && last.content.every(({ kind }) => kind !== 'tool-call')
  const isBlank = (block: Block) => last?.role === 'assistant' && block.kind === 'text' && block.text.trimEnd() === ''
  return (block, index) => index < messages.length - 1 || (!isContinued && !isBlank(block))
}

/**
 * A final assistant turn is the beginning of the answer: a template cannot
 * continue it from white space, and the model would rarely write on after it.
 * One that holds a call is over, as is one that ends in it: there is no way to
 * write on behind a call, and without the call it would be another turn.
 */
function finishFinalTurn(messages: readonly Message[]): Omit<Conversation, 'leadingMark'> {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return { messages, continuesFinalMessage: false }
  const content = [...last.content]
  for (let block = content.at(-1); block !== undefined && block.kind !== 'tool-call'; block = content.at(-1)) {
    const text = block.kind === 'text' ? block.text.trimEnd() : ''
    content.pop()
    if (block.kind === 'thinking' || text === '') continue
    content.push({ ...block, text })
    break
  }
  if (content.length === 0) return { messages: messages.slice(0, -1), continuesFinalMessage: false }
  const continuesFinalMessage = content.every(({ kind }) => kind !== 'tool-call')
  return { messages: [...messages.slice(0, -1), { role: 'assistant', content }], continuesFinalMessage }
}
