import type { Plugin } from 'vite'
import type { Block, Guide, GuideEntry, GuideSection } from '../src/lib/guide.ts'
import { plainText } from './read-guide.ts'
import { readGuides } from './read-guides.ts'

const contents = 'virtual:guides'
const sections = 'virtual:guide-sections'
const one = 'virtual:guide/'

/** Makes modules of the guides: a table of contents, each guide by itself, and the sections that are searched. */
export function guidesPlugin(): Plugin {
  const guides = readGuides()
  return {
    name: 'odyssey-guides',
    resolveId: (id) => (id.startsWith('virtual:guide') ? `\0${id}` : null),
    load(id) {
      if (id === `\0${contents}`) return contentsModule(guides.map(({ entry }) => entry))
      if (id === `\0${sections}`)
        return `export default ${JSON.stringify(guides.flatMap(({ entry, guide }) => sectionsOf(entry, guide)))}`
      const guide = guides.find(({ entry }) => id === `\0${one}${entry.slug}`)?.guide
      return guide === undefined ? null : `export default ${JSON.stringify(guide)}`
    },
  }
}

function contentsModule(entries: readonly GuideEntry[]): string {
  const loaders = entries.map(({ slug }) => `${JSON.stringify(slug)}: () => import(${JSON.stringify(one + slug)})`)
  return `export const entries = ${JSON.stringify(entries)}\nexport const load = { ${loaders.join(', ')} }`
}

/** A guide's beginning, and what stands below each of its headings. */
function sectionsOf({ slug, title: guideTitle }: GuideEntry, { blocks }: Guide): GuideSection[] {
  const found: { anchor: string; title: string; texts: string[] }[] = [{ anchor: '', title: guideTitle, texts: [] }]
  for (const block of blocks) {
    if (block.kind === 'heading') found.push({ anchor: block.id, title: plainText(block.text), texts: [] })
    else found.at(-1)?.texts.push(wordsOf(block))
  }
  return found.map(({ anchor, title, texts }) => ({
    id: `${slug}#${anchor}`,
    slug,
    anchor,
    guide: guideTitle,
    title,
    text: texts.join('\n'),
  }))
}

function wordsOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
    case 'text':
      return plainText(block.text)
    case 'code':
      return block.text
    case 'list':
      return block.items.flatMap((item) => item.map(wordsOf)).join('\n')
    case 'table':
      return [block.head, ...block.rows].map((row) => row.map(plainText).join(' ')).join('\n')
    case 'quote':
      return block.blocks.map(wordsOf).join('\n')
  }
}
