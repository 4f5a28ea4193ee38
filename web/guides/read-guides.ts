import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Guide, GuideEntry } from '../src/lib/guide.ts'
import { guideGroups, slugOf } from './guide-list.ts'
import { readGuide } from './read-guide.ts'

const folder = join(import.meta.dirname, '../../docs')

/** Every guide that is served, in the order of the table of contents. */
export function readGuides(): readonly { readonly entry: GuideEntry; readonly guide: Guide }[] {
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  return guideGroups.flatMap(({ title: group, files }) =>
    files.map((file) => {
      const guide = readGuide(file, read)
      return { entry: { slug: slugOf(file), title: guide.title, group }, guide }
    }),
  )
}
