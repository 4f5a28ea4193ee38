import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const page = join(root, 'docs/clients.md')

/** What one kind of run has found out; each has a table of its own on the page. */
export type Section = 'libraries' | 'python' | 'agents' | 'session'

export type Table = { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] }

/** Puts a table in the place of the one that is on the page. */
export function writeTable(section: Section, table: Table): void {
  const text = readFileSync(page, 'utf8')
  const [before, , after] = split(text, section)
  writeFileSync(page, `${before}\n\n${print(table)}\n\n${after}`)
}

/** The rows on the page, by their first cell. */
export function readTable(section: Section): ReadonlyMap<string, readonly string[]> {
  const [, between] = split(readFileSync(page, 'utf8'), section)
  const lines = between.trim().split('\n').slice(2)
  const rows = lines.map((line) => line.slice(2, -2).split(' | '))
  return new Map(rows.map((row) => [row[0] ?? '', row]))
}

function split(text: string, section: Section): readonly [before: string, between: string, after: string] {
  const parts = new RegExp(`^([^]*<!-- ${section}: .*-->)([^]*?)(<!-- end -->[^]*)$`).exec(text)
  const [, before, between, after] = parts ?? []
  if (before === undefined || between === undefined || after === undefined) {
    throw new Error(`docs/clients.md has no place for the table of ${section}.`)
  }
  return [before, between, after]
}

function print({ header, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '-')), ...rows.map(line)].join('\n')
}

/** The exact version of a package that these tests install, an alias resolved. */
export function installedVersion(name: string): string {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const pinned = devDependencies[name]
  if (pinned === undefined) throw new Error(`${name} is no development dependency.`)
  return pinned.slice(pinned.lastIndexOf('@') + 1)
}
