import { invalidRequest, type ErrorPath } from '../../../core/error.ts'
import type { ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock, ToolResultBlock } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { ThinkingSignature } from '../thinking-signature.ts'
import { decodeMark } from './cache-marks.ts'
import type {
  WireBlock,
  WireDocument,
  WireForeignBlock,
  WireImage,
  WireInlineBlock,
  WireThinking,
  WireToolChange,
  WireToolResult,
  WireToolUse,
} from './content-schema.ts'

export type InlineBlock = TextBlock | ImageBlock

export function decodeSystemBlock(block: WireBlock, path: ErrorPath): TextBlock[] {
  switch (block.type) {
    case 'thinking':
    case 'redacted_thinking':
      return []
    case 'tool_use':
    case 'tool_result':
      throw fieldError(path, 'value', `A system message cannot hold a ${block.type} block`)
    default:
      return decodeTextOnly(block, path, 'a system message')
  }
}

export function decodeUserBlock(block: WireBlock, path: ErrorPath): (InlineBlock | ToolResultBlock)[] {
  switch (block.type) {
    case 'thinking':
    case 'redacted_thinking':
      return []
    case 'tool_use':
      throw fieldError(path, 'value', 'tool_use blocks can only be in assistant messages')
    case 'tool_result':
      return [decodeToolResult(block, path)]
    default:
      return decodeInline(block, path)
  }
}

export function decodeAssistantBlock(
  block: WireBlock,
  path: ErrorPath,
  signature: ThinkingSignature,
): (TextBlock | ToolCallBlock | ThinkingBlock)[] {
  switch (block.type) {
    case 'thinking':
      return decodeThinkingBlock(block, signature)
    case 'redacted_thinking':
      return []
    case 'tool_use':
      return [decodeToolUse(block)]
    case 'tool_result':
      throw fieldError(path, 'value', 'tool_result blocks can only be in user messages')
    default:
      return decodeTextOnly(block, path, 'an assistant message')
  }
}

/** Thinking this service did not sign is left out in silence: a refusal would make the whole history unusable. */
function decodeThinkingBlock(block: WireThinking, signature: ThinkingSignature): ThinkingBlock[] {
  const text = signature.open(block.thinking ?? '', block.signature ?? '')
  return text === null || text === '' ? [] : [{ kind: 'thinking', text }]
}

function decodeToolUse(block: WireToolUse): ToolCallBlock {
  const { id, name, input } = block
  return { kind: 'tool-call', id, name, arguments: JSON.stringify(input), ...decodeMark(block) }
}

function decodeToolResult(block: WireToolResult, path: ErrorPath): ToolResultBlock {
  const content =
    typeof block.content === 'string'
      ? textBlocks(block.content)
      : (block.content ?? []).flatMap((part, index) => decodeResultPart(part, [...path, 'content', index]))
  const { tool_use_id: toolCallId, is_error: isError = false } = block
  return { kind: 'tool-result', toolCallId, isError, content, ...decodeMark(block) }
}

/** What a tool returned stays in the history, so what cannot be read of it must not make every later turn fail. */
function decodeResultPart(block: WireInlineBlock, path: ErrorPath): InlineBlock[] {
  switch (block.type) {
    case 'image':
      return [decodeImage(block, [...path, 'image']) ?? { kind: 'text', text: '[image omitted: it could not be read]' }]
    case 'document': {
      const { source } = block
      if (source.type === 'text' || source.type === 'content') return decodeDocument(block, path, decodeResultPart)
      return textBlocks('[document omitted: model accepts text only]', block)
    }
    default:
      return decodeInline(block, path)
  }
}

function decodeTextOnly(block: WireInlineBlock, path: ErrorPath, place: string): TextBlock[] {
  return decodeInline(block, path).map((decoded) => {
    if (decoded.kind === 'text') return decoded
    throw fieldError(decoded.path, 'value', `Images cannot be in ${place}`)
  })
}

function decodeInline(block: WireInlineBlock, path: ErrorPath): InlineBlock[] {
  switch (block.type) {
    case 'text':
      return textBlocks(block.text, block)
    case 'image':
      return [readableImage(block, [...path, 'image'])]
    case 'document':
      return decodeDocument(block, path, decodeInline)
    case 'search_result': {
      const { title, source } = block
      const text = block.content.map((part) => part.text).join('\n')
      return textBlocks(encloseText('search_result', { title, source }, text), block)
    }
    case 'tool_reference':
      return textBlocks(`[The tool ${block.tool_name} is available.]`, block)
    case 'compaction':
      return textBlocks(block.content ?? '', block)
    case 'tool_addition':
    case 'tool_removal':
      // Agents know this refusal by this one token, and send their tools another way.
      if (block.tool.type === 'tool_definition')
        throw invalidRequest(path, 'unsupported-value', 'capability_rejected: mid_conv_system')
      return textBlocks(describeToolChange(block), block)
    case 'container_upload':
      throw fieldError(path, 'unsupported-value', 'container_upload blocks are not supported')
    default:
      return textBlocks(summarizeForeignBlock(block), block)
  }
}

function textBlocks(text: string, from: Parameters<typeof decodeMark>[0] = {}): TextBlock[] {
  return text === '' ? [] : [{ kind: 'text', text, ...decodeMark(from) }]
}

function readableImage(block: WireImage, path: ErrorPath): ImageBlock {
  const image = decodeImage(block, path)
  if (image === null) throw fieldError(path, 'value', 'Could not process image: its data is not valid base64')
  return image
}

/** Null where the data is no base64. */
function decodeImage(block: WireImage, path: ErrorPath): ImageBlock | null {
  const { source } = block
  const mark = decodeMark(block)
  if (source.type !== 'base64') return { kind: 'image', mediaType: null, data: null, path, ...mark }
  const base64 = source.data.replace(/\s+/g, '')
  if (base64 === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return null
  const data = new Uint8Array(Buffer.from(base64, 'base64'))
  return { kind: 'image', mediaType: source.media_type, data, path, ...mark }
}

type DecodePart = (block: WireInlineBlock, path: ErrorPath) => InlineBlock[]

/** The text of a document in one block, then its images; the mark stands at the end. */
function decodeDocument(block: WireDocument, path: ErrorPath, decodePart: DecodePart): InlineBlock[] {
  const at = [...path, 'document']
  const { text, images } = readSource(block.source, at, decodePart)
  const enclosed = encloseText('document', { title: block.title, context: block.context }, text)
  const blocks: InlineBlock[] = [...textBlocks(enclosed), ...images]
  const last = blocks.at(-1)
  return last === undefined ? blocks : blocks.with(-1, { ...last, ...decodeMark(block) })
}

type DocumentContent = { readonly text: string; readonly images: readonly ImageBlock[] }

function readSource(source: WireDocument['source'], path: ErrorPath, decodePart: DecodePart): DocumentContent {
  switch (source.type) {
    case 'url':
    case 'file':
      throw fieldError(
        [...path, 'source'],
        'unsupported-value',
        `${source.type} sources are not supported; send the content inline`,
      )
    case 'base64':
      throw fieldError(
        [...path, 'source'],
        'unsupported-value',
        'This model does not support PDF input; send the text inline',
      )
    case 'text':
      return { text: source.data, images: [] }
    case 'content': {
      if (typeof source.content === 'string') return { text: source.content, images: [] }
      const blocks = source.content.flatMap((part, index) => decodePart(part, [...path, 'source', 'content', index]))
      const text = blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : [])).join('\n')
      return { text, images: blocks.filter((block) => block.kind === 'image') }
    }
  }
}

/** Encloses a document or a search result, so that the model sees where it begins and ends. */
export function encloseText(tag: string, fields: Readonly<Record<string, string | undefined>>, text: string): string {
  const lines = [`<${tag}>`]
  for (const [name, value] of Object.entries(fields)) if (value) lines.push(`<${name}>${value}</${name}>`)
  return [...lines, text, `</${tag}>`].join('\n')
}

export function describeToolChange({ type, tool }: WireToolChange): string {
  return `[The tool ${tool.name ?? ''} is ${type === 'tool_addition' ? 'available from here on' : 'no longer available'}.]`
}

/** Blocks that tell the model nothing it could use. */
const silentTypes: ReadonlySet<string> = new Set(['mcp_tool_listing', 'fallback'])

/** What a block of another service's own kind says, in short; empty where it says nothing. */
export function summarizeForeignBlock(block: WireForeignBlock): string {
  if (silentTypes.has(block.type)) return ''
  const texts: string[] = []
  collectTexts(block, texts, summaryDepthMax)
  const text = texts.join('\n')
  const short = text.length <= summaryCharactersMax ? text : `${text.slice(0, summaryCharactersMax).toWellFormed()}...`
  return short === '' ? `[${block.type}]` : `[${block.type}]\n${short}`
}

// A page another service fetched may be long, and the model has seen the answer drawn from it.
const summaryCharactersMax = 2_000
const summaryDepthMax = 6

/** Readable fields only: encrypted content and ids would be noise in a prompt. */
const readableKeys = [
  'name',
  'title',
  'url',
  'query',
  'text',
  'data',
  'stdout',
  'stderr',
  'error_code',
  'tool_name',
] as const
const nestedKeys = ['input', 'content', 'source', 'tool_references', 'tabs'] as const

function collectTexts(value: unknown, texts: string[], depth: number): void {
  if (depth === 0) return
  if (Array.isArray(value)) {
    for (const item of value) collectTexts(item, texts, depth - 1)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const fields = value as Readonly<Record<string, unknown>>
  for (const key of readableKeys) {
    const text = fields[key]
    if (typeof text === 'string' && text !== '' && !(key === 'data' && fields['type'] === 'base64')) texts.push(text)
  }
  for (const key of nestedKeys) {
    const nested = fields[key]
    if (key === 'content' && typeof nested === 'string') texts.push(nested)
    else collectTexts(nested, texts, depth - 1)
  }
}
