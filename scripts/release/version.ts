/** What of a version a release raises. */
export const versionParts = ['major', 'minor', 'patch'] as const
export type VersionPart = (typeof versionParts)[number]

/** The version after `current`, of which that part is raised and what is behind it is 0. Throws where `current` is none. */
export function nextVersion(current: string, part: VersionPart): string {
  const numbers = /^(\d+)\.(\d+)\.(\d+)$/.exec(current)?.slice(1).map(Number)
  if (numbers === undefined) throw new Error(`${current} is no version of three numbers.`)
  const at = versionParts.indexOf(part)
  return numbers.map((number, index) => (index < at ? number : index === at ? number + 1 : 0)).join('.')
}

/** The part that a release has to raise at least: a schema of its own is more than a repair. */
export function leastPart(migrations: readonly string[]): VersionPart {
  return migrations.length > 0 ? 'minor' : 'patch'
}
