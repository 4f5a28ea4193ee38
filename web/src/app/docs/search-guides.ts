import MiniSearch from 'minisearch'
import type { GuideSection } from '../../lib/guide.ts'
import { stemOf } from './word-stem.ts'

/** More than anybody reads through. */
const foundMax = 30

/** Stems shorter than this are taken as they are: with another letter they would be another word. */
const fuzzyCharactersMin = 5

/** Reads what the guides say, and returns what finds the sections that say something of it: those of most words first. */
export async function searchGuides(): Promise<(q: string) => readonly GuideSection[]> {
  const { default: sections } = await import('virtual:guide-sections')
  const byId = new Map(sections.map((section) => [section.id, section]))
  const index = new MiniSearch<GuideSection>({
    fields: ['title', 'guide', 'text'],
    processTerm: stemOf,
    searchOptions: {
      prefix: true,
      fuzzy: (term) => (term.length >= fuzzyCharactersMin ? 0.2 : false),
      combineWith: 'OR',
      boost: { title: 4, guide: 2 },
    },
  })
  index.addAll(sections)
  return (q) =>
    index
      .search(q)
      .map(({ id, score, queryTerms }) => ({ id, score, words: new Set(queryTerms).size }))
      .toSorted((one, other) => other.words - one.words || other.score - one.score)
      .slice(0, foundMax)
      .flatMap(({ id }) => byId.get(String(id)) ?? [])
}
