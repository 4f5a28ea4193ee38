import type { WireForeignBlock, WireToolChange } from './content-schema.ts'

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
