import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** A package as package-lock.json has it. */
export type LockedPackage = {
  readonly version: string
  /** Where it is installed under another name. */
  readonly name?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export type Lockfile = {
  /** The product itself. */
  readonly own: LockedPackage
  /** All others, by the folder they are installed in. */
  readonly packages: ReadonlyMap<string, LockedPackage>
}

export function readLockfile(path = join(root, 'package-lock.json')): Lockfile {
  const { packages } = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockedPackage> }
  const { '': own, ...others } = packages
  if (own === undefined) throw new Error(`${path} does not say whose it is.`)
  return { own, packages: new Map(Object.entries(others)) }
}

export function nameOf(folder: string, { name }: LockedPackage): string {
  return name ?? folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

/** Whether an installation for running the service may have it. */
export function isForProduction({ dev }: LockedPackage): boolean {
  return dev !== true
}

/** The folders of what a package, or the product itself (''), asks for, as Node finds them; what is not there is left out. */
export function dependenciesOf({ own, packages }: Lockfile, folder: string, kinds: DependencyKinds): string[] {
  const asking = folder === '' ? own : packages.get(folder)
  if (asking === undefined) return []
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = asking
  const isOptional = (name: string) => name in optionalDependencies || peerDependenciesMeta[name]?.optional === true
  const names = [...new Set([dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys))]
  const wanted = kinds === 'all' ? names : names.filter((name) => !isOptional(name))
  return wanted.map((name) => find(packages, folder, name)).filter((found) => found !== null)
}

export type DependencyKinds = 'all' | 'required'

/** Everything the product cannot do without, found by following what asks for what; `without` is left out with what it brings. */
export function requiredFolders(lockfile: Lockfile, without: string | null = null): Set<string> {
  const found = new Set<string>()
  const waiting = dependenciesOf(lockfile, '', 'required').filter((folder) => folder !== `node_modules/${without}`)
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (found.has(folder)) continue
    found.add(folder)
    waiting.push(...dependenciesOf(lockfile, folder, 'required'))
  }
  return found
}

function find(packages: Lockfile['packages'], from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    const place = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (packages.has(place)) return place
    if (folder === '') return null
  }
}
