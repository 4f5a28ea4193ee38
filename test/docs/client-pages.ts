import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Format } from '../../src/clients/connection.ts'

const root = join(import.meta.dirname, '../..')

export type Block = { readonly language: string; readonly code: string }

/** What the pages have for one client in one wire format. */
export type Section = {
  readonly page: string
  /** The heading: a client's title. */
  readonly title: string
  /** Null is the one that the client prefers. */
  readonly format: Format | null
  readonly blocks: readonly Block[]
}

/** The pages on clients, cut at their headings. */
export function readSections(): Section[] {
  return globSync('docs/clients/*.md', { cwd: root }).flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return text
      .split(/^(?=## )/m)
      .slice(1)
      .flatMap((section) => {
        const title = /^## (.*)$/m.exec(section)?.[1] ?? ''
        const [preferred = '', ...others] = section.split(/^### Messages format$/m)
        return [
          { page, title, format: null, blocks: blocksOf(preferred) },
          ...others.map((other) => ({ page, title, format: 'messages' as const, blocks: blocksOf(other) })),
        ]
      })
  })
}

function blocksOf(text: string): Block[] {
  return [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', code = '']) => ({ language, code }))
}
