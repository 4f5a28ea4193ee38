import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isForProduction, nameOf, type Lockfile } from './lockfile.ts'

/** Names under which packages keep their licence, and what Apache's asks to be passed on. */
const legalFile = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i

/** The licences of the packages that are installed here and run the service, with their texts, as redistribution asks for. */
export function makeNotices({ packages }: Lockfile, root: string): string {
  const sections = new Map<string, string>()
  for (const [folder, locked] of packages) {
    const place = join(root, folder)
    if (!isForProduction(locked) || !existsSync(place)) continue
    const title = `${nameOf(folder, locked)} ${locked.version} (${locked.license ?? 'no licence is named'})`
    const texts = readdirSync(place)
      .filter((name) => legalFile.test(name))
      .toSorted()
      .map((name) => readFileSync(join(place, name), 'utf8').trim())
    sections.set(title, [title, '='.repeat(title.length), '', ...texts.flatMap((text) => [text, ''])].join('\n'))
  }
  const sorted = [...sections].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return sorted.map(([, section]) => `${section}\n`).join('')
}
