import { escapeXml } from '../../../src/lib/xml/write-xml.ts'
import type { Block, Cell, Guide, Inline } from '../../src/lib/guide.ts'

/** Where the dashboard has a guide, as its blocks name it. */
const served = /^\/docs\/guides\/([^#]+)(#.*)?$/

/** A guide's blocks as HTML, with links to other guides as `guideAt` has them. */
export function writeGuide({ blocks }: Guide, guideAt: (slug: string) => string): string {
  const inline = (one: Inline): string => {
    if (typeof one === 'string') return escapeText(one)
    const within = one.kind === 'code' ? escapeText(one.text) : one.text.map(inline).join('')
    switch (one.kind) {
      case 'code':
        return `<code>${within}</code>`
      case 'strong':
        return `<strong>${within}</strong>`
      case 'emphasis':
        return `<em>${within}</em>`
      case 'link':
        return `<a href="${escapeXml(addressOf(one.href, guideAt))}">${within}</a>`
    }
  }
  const line = (text: readonly Inline[]) => text.map(inline).join('')
  const row = (cells: readonly Cell[], tag: 'td' | 'th') =>
    `<tr>${cells.map((cell) => writeCell(line(cell), tag)).join('')}</tr>`
  const block = (one: Block, place: string): string => {
    switch (one.kind) {
      case 'heading': {
        const tag = `h${Math.min(Math.max(one.level, 2), 4)}`
        return `<${tag} id="${escapeXml(one.id)}"><a href="#${escapeXml(one.id)}">${line(one.text)}</a></${tag}>`
      }
      case 'text':
        return `<p>${line(one.text)}</p>`
      case 'code':
        return `<pre tabindex="0" role="region" aria-label="Code ${place}"><code>${escapeText(one.text)}</code></pre>`
      case 'list': {
        const tag = one.isOrdered ? 'ol' : 'ul'
        return `<${tag}>${one.items.map((item, at) => `<li>${writeItem(item, `${place}.${at + 1}`)}</li>`).join('')}</${tag}>`
      }
      case 'table':
        return (
          `<div class="table" tabindex="0" role="region" aria-label="Table ${place}"><table>` +
          `<thead>${row(one.head, 'th')}</thead><tbody>${one.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`
        )
      case 'quote':
        return `<blockquote>${many(one.blocks, `${place}.`)}</blockquote>`
    }
  }
  const many = (all: readonly Block[], within: string) =>
    all.map((one, at) => block(one, `${within}${at + 1}`)).join('\n')
  /** An item of one text alone stands in its line without a paragraph of its own. */
  const writeItem = (item: readonly Block[], place: string) => {
    const [first] = item
    return item.length === 1 && first?.kind === 'text' ? line(first.text) : many(item, `${place}.`)
  }
  return many(blocks, '')
}

/** Where a column needs no words there is no head for readers of the screen to stop at. */
function writeCell(content: string, tag: 'td' | 'th'): string {
  if (tag === 'td' || content === '') return `<td>${content}</td>`
  return `<th scope="col">${content}</th>`
}

function addressOf(href: string, guideAt: (slug: string) => string): string {
  const [, slug, anchor = ''] = served.exec(href) ?? []
  return slug === undefined ? href : guideAt(slug) + anchor
}

/** Between tags lines and quotes stay as they are, so that the source itself can be read too. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
