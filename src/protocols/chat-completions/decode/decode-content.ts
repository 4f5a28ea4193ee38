import type { ErrorPath } from '../../../core/error.ts'
import type { ImageBlock, TextBlock } from '../../../core/generation.ts'
import { fieldError } from '../error.ts'
import type { WireContent, WirePart } from './message-schema.ts'

type ContentBlock = TextBlock | ImageBlock
type ImagePart = Extract<WirePart, { type: 'image_url' }>
type FilePart = Extract<WirePart, { type: 'file' }>

const plainText: readonly string[] = ['text']
const withRefusals: readonly string[] = ['text', 'refusal']
const withMedia: readonly string[] = ['text', 'image_url', 'file']

export function decodeSystemContent(content: WireContent, path: ErrorPath): TextBlock[] {
  return decodeContent(content, plainText, path).filter((block) => block.kind === 'text')
}

export function decodeAssistantContent(content: WireContent, path: ErrorPath): TextBlock[] {
  return decodeContent(content, withRefusals, path).filter((block) => block.kind === 'text')
}

/** What a user or a tool may say. */
export function decodeMediaContent(content: WireContent, path: ErrorPath): ContentBlock[] {
  return decodeContent(content, withMedia, path)
}

/** Neighbouring texts become one block, a line break between them; empty texts say nothing and are left out. */
function decodeContent(content: WireContent, allowed: readonly string[], path: ErrorPath): ContentBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  const blocks: ContentBlock[] = []
  for (const [index, part] of content.entries()) {
    const block = decodePart(part, allowed, [...path, index])
    const last = blocks.at(-1)
    if (block.kind === 'text' && block.text === '') continue
    if (block.kind === 'text' && last?.kind === 'text') {
      blocks[blocks.length - 1] = { kind: 'text', text: `${last.text}\n${block.text}` }
    } else {
      blocks.push(block)
    }
  }
  return blocks
}

function decodePart(part: WirePart, allowed: readonly string[], path: ErrorPath): ContentBlock {
  if (part.type === 'input_audio')
    throw fieldError([...path, 'type'], 'unsupported-value', 'audio input is not offered')
  if (!allowed.includes(part.type)) {
    throw fieldError([...path, 'type'], 'value', `expected ${allowed.join(' or ')} in a message of this role`)
  }
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: part.text }
    case 'refusal':
      return { kind: 'text', text: part.refusal }
    case 'image_url':
      return decodeImage(part, [...path, 'image_url'])
    case 'file':
      return decodeFile(part, [...path, 'file'])
  }
}

function decodeImage(part: ImagePart, path: ErrorPath): ImageBlock {
  const { url } = part.image_url
  const urlPath = [...path, 'url']
  if (/^https?:/i.test(url)) {
    throw fieldError(urlPath, 'unsupported-value', 'images are not fetched, send the image as a data URL')
  }
  const { mediaType, data } = parseDataUrl(url, urlPath)
  if (!mediaType.startsWith('image/')) throw fieldError(urlPath, 'value', 'expected the media type of an image')
  return { kind: 'image', mediaType, data, path }
}

function decodeFile(part: FilePart, path: ErrorPath): TextBlock {
  const { file_id: fileId, file_data: fileData } = part.file
  if (fileId !== undefined) {
    throw fieldError([...path, 'file_id'], 'unsupported-field', 'no files are stored, send plain text as file_data')
  }
  const dataPath = [...path, 'file_data']
  if (fileData === undefined) throw fieldError(dataPath, 'missing', 'Field required')
  if (!/^data:text\/plain[;,]/i.test(fileData)) {
    throw fieldError(dataPath, 'unsupported-value', 'expected a data URL of type text/plain')
  }
  return { kind: 'text', text: new TextDecoder().decode(parseDataUrl(fileData, dataPath).data) }
}

function parseDataUrl(url: string, path: ErrorPath): { mediaType: string; data: Uint8Array } {
  const comma = url.indexOf(',')
  const header = url.slice(0, Math.max(comma, 0)).toLowerCase()
  const base64 = url.slice(comma + 1).replace(/\s+/g, '')
  if (!header.startsWith('data:') || !header.endsWith(';base64')) {
    throw fieldError(path, 'value', 'expected a data URL in base64')
  }
  if (base64 === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64))
    throw fieldError(path, 'value', 'expected valid base64')
  const mediaType = header.slice('data:'.length).split(';')[0] ?? ''
  return { mediaType, data: new Uint8Array(Buffer.from(base64, 'base64')) }
}
