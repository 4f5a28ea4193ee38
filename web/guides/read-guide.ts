import { posix } from 'node:path'
import { marked, type MarkedToken, type Token, type Tokens } from 'marked'
import type { Block, Guide, Inline } from '../src/lib/guide.ts'
import { guideGroups, slugOf } from './guide-list.ts'

/** Below this address each guide has its page. */
const address = '/docs/guides/'

const served = new Set(guideGroups.flatMap(({ files }) => files))

/**
 * Reads a guide.
 *
 * Links between guides become those of their pages, and one that says a file's name says its title. A link to a file that is
 * not served leaves its words, and where these are the file's name they say where it is. Pictures are left out: they show the
 * dashboard, in which the guide is read. Throws for markup that has no place on a page.
 */
export function readGuide(file: string, read: (file: string) => string): Guide {
  const anchors = new Map<string, number>()
  const reading = { file, anchors, titleOf: (other: string) => titleOf(read(other)) }
  const blocks = marked.lexer(read(file)).flatMap((token) => blocksOf(token, reading))
  const [first, ...rest] = blocks
  if (first?.kind !== 'heading' || first.level !== 1) throw new Error(`${file} does not begin with its title.`)
  return { title: plainText(first.text), blocks: rest }
}

type Reading = {
  readonly file: string
  readonly anchors: Map<string, number>
  readonly titleOf: (file: string) => string
}

function titleOf(markdown: string): string {
  return /^# (.*)$/m.exec(markdown)?.[1] ?? ''
}

function blocksOf(token: Token, reading: Reading): Block[] {
  const { file } = reading
  const one = token as MarkedToken
  switch (one.type) {
    case 'space':
    case 'hr':
      return []
    case 'html':
      if (!one.text.trim().startsWith('<!--')) throw notShown(file, one)
      return []
    case 'heading': {
      const text = inlinesOf(one.tokens, reading)
      return [{ kind: 'heading', level: one.depth, id: anchorOf(plainText(text), reading.anchors), text }]
    }
    case 'paragraph':
    case 'text': {
      const text = inlinesOf(one.tokens ?? [], reading)
      return text.length === 0 ? [] : [{ kind: 'text', text }]
    }
    case 'code':
      return [{ kind: 'code', language: one.lang ?? '', text: one.text }]
    case 'blockquote':
      return [{ kind: 'quote', blocks: one.tokens.flatMap((inner) => blocksOf(inner, reading)) }]
    case 'list': {
      const items = one.items.map(({ tokens }) => tokens.flatMap((inner) => blocksOf(inner, reading)))
      return [{ kind: 'list', isOrdered: one.ordered, items }]
    }
    case 'table':
      return [tableOf(one, reading)]
    default:
      throw notShown(file, one)
  }
}

function notShown(file: string, { raw }: Token): Error {
  return new Error(`${file} has markup that no page shows: ${raw.slice(0, 80)}`)
}

function tableOf({ header, rows }: Tokens.Table, reading: Reading): Block {
  const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => inlinesOf(tokens, reading))
  return { kind: 'table', head: cells(header), rows: rows.map(cells) }
}

function inlinesOf(tokens: readonly Token[], reading: Reading): Inline[] {
  return tokens.flatMap((token): Inline[] => {
    const one = token as MarkedToken
    switch (one.type) {
      case 'text':
        return one.tokens === undefined ? [unescaped(one.text)] : inlinesOf(one.tokens, reading)
      case 'escape':
        return [unescaped(one.text)]
      case 'br':
        return ['\n']
      case 'codespan':
        return [{ kind: 'code', text: one.text }]
      case 'strong':
        return [{ kind: 'strong', text: inlinesOf(one.tokens, reading) }]
      case 'em':
        return [{ kind: 'emphasis', text: inlinesOf(one.tokens, reading) }]
      case 'link':
        return linkOf(one, reading)
      case 'image':
        return []
      default:
        throw notShown(reading.file, one)
    }
  })
}

function linkOf({ href, tokens }: Tokens.Link, reading: Reading): Inline[] {
  const { file } = reading
  const text = inlinesOf(tokens, reading)
  if (/^https?:/.test(href)) return [{ kind: 'link', href, text }]
  const [path = '', anchor] = href.split('#')
  const target = path === '' ? file : posix.join(posix.dirname(file), path)
  const isNamed = plainText(text).endsWith('.md')
  if (!served.has(target)) return isNamed ? [`${posix.join('docs', target)} in the program’s folder`] : text
  const said = isNamed ? [reading.titleOf(target)] : text
  return [{ kind: 'link', href: address + slugOf(target) + (anchor === undefined ? '' : `#${anchor}`), text: said }]
}

/** As the hosts of repositories make it, so that a link works in both places. */
function anchorOf(title: string, anchors: Map<string, number>): string {
  const plain = title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
  const before = anchors.get(plain) ?? 0
  anchors.set(plain, before + 1)
  return before === 0 ? plain : `${plain}-${before}`
}

/** The lexer leaves the few entities that Markdown needs as they were written. */
function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** The words alone. */
export function plainText(inlines: readonly Inline[]): string {
  return inlines
    .map((one) => {
      if (typeof one === 'string') return one
      return one.kind === 'code' ? one.text : plainText(one.text)
    })
    .join('')
}
