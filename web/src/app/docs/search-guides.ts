import MiniSearch from 'minisearch'
import type { GuideSection } from '../../lib/guide.ts'

/** More than anybody reads through. */
const foundMax = 30

/** Reads what the guides say, and returns what finds the sections that say something, the best first. */
export async function searchGuides(): Promise<(q: string) => readonly GuideSection[]> {
  const { default: sections } = await import('virtual:guide-sections')
  const byId = new Map(sections.map((section) => [section.id, section]))
  const index = new MiniSearch<GuideSection>({
    fields: ['title', 'guide', 'text'],
    searchOptions: {
      prefix: true,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
      combineWith: 'AND',
      boost: { title: 4, guide: 2 },
    },
  })
  index.addAll(sections)
  return (q) =>
    index
      .search(q)
      .slice(0, foundMax)
      .flatMap(({ id }) => byId.get(String(id)) ?? [])
}
