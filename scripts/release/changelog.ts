/** One commit as the history has it, oldest first in a list. */
export type Commit = {
  readonly hash: string
  readonly subject: string
  /** Paths that it changed, from the repository's root. */
  readonly files: readonly string[]
}

export type Release = {
  readonly version: string
  /** The day of the release, as 2026-11-25. */
  readonly day: string
  readonly commits: readonly Commit[]
  /** Names of the migrations that this release is the first to have; null for the first release, which has them all. */
  readonly migrations: readonly string[] | null
}

/** The head of the file, which the first release writes. */
const head = `# Changelog

What each release changed, newest first. [docs/operations/upgrades.md](docs/operations/upgrades.md) says what a version number
promises and how to go from one to the next.
`

/** Where a change belongs, by the folder that most of its files are in; the first that holds a file wins a draw. */
const groups: readonly { readonly title: string; readonly folders: readonly string[] }[] = [
  {
    title: 'Wire formats and models',
    folders: ['src/protocols', 'src/http/v1', 'src/inference', 'src/chat-format', 'src/grammar', 'src/models'],
  },
  { title: 'Engines and pools', folders: ['src/engines', 'src/scheduling', 'weights', 'starter'] },
  { title: 'Limits and billing', folders: ['src/limits', 'src/billing'] },
  { title: 'Accounts and sign-in', folders: ['src/accounts', 'src/http/sso', 'src/http/scim'] },
  { title: 'Alerts and audit', folders: ['src/alerts', 'src/accounts/audit', 'src/accounts/transparency'] },
  { title: 'Dashboard', folders: ['web', 'src/http/dashboard'] },
  { title: 'Running the service', folders: ['src', 'bin', 'deploy', 'package.json', 'package-lock.json'] },
  { title: 'Documentation', folders: ['docs', 'README.md', 'SECURITY.md', 'CONTRIBUTING.md'] },
  { title: 'Tests and tools', folders: ['test', 'scripts', 'bench', ''] },
]

/** The changelog with a release in front of those before. Throws where it has that version already. */
export function addRelease(changelog: string, release: Release): string {
  const text = changelog === '' ? head : changelog
  if (text.includes(`\n## ${release.version} `)) throw new Error(`CHANGELOG.md has ${release.version} already.`)
  const first = text.indexOf('\n## ')
  const before = first === -1 ? text : text.slice(0, first + 1)
  const after = first === -1 ? '' : `\n${text.slice(first + 1)}`
  return `${before.trimEnd()}\n\n${describeRelease(release)}${after}`
}

function describeRelease({ version, day, commits, migrations }: Release): string {
  const sections = groups.flatMap(({ title }) => {
    const lines = commits.filter((commit) => groupOf(commit) === title).map(describeCommit)
    return lines.length === 0 ? [] : [`### ${title}\n\n${lines.join('\n')}\n`]
  })
  return [`## ${version} – ${day}\n`, describeMigrations(migrations), ...sections].join('\n')
}

function describeMigrations(migrations: readonly string[] | null): string {
  if (migrations === null) return 'The first release.\n'
  if (migrations.length === 0) return 'The schema of the database is that of the release before.\n'
  const names = migrations.map((name) => `\`${name}\``).join(', ')
  return `Make a backup first: the first start brings the schema up to date (${names}), and older programs do not start on it.\n`
}

function describeCommit({ subject, hash }: Commit): string {
  // A subject is text of its author's, in which Markdown would take these for its own.
  return `- ${subject.replace(/[\\`*_<>[\]]/g, String.raw`\$&`)} (${hash})`
}

/** The title of the group that most of a commit's files are in; files deeper in a group's folders count for that one alone. */
export function groupOf({ files }: Pick<Commit, 'files'>): string {
  const counts = new Map(groups.map(({ title }) => [title, 0]))
  for (const file of files.every(isTest) ? files : files.filter((path) => !isTest(path))) {
    const title = titleOf(file)
    counts.set(title, (counts.get(title) ?? 0) + 1)
  }
  const most = Math.max(...counts.values())
  return groups.find(({ title }) => counts.get(title) === most)?.title ?? ''
}

function isTest(path: string): boolean {
  return /(^|\/)test\/|\.test\.tsx?$/.test(path)
}

/** The group with the longest folder around a file: `src/http/sso` before `src`. */
function titleOf(file: string): string {
  const holds = (folder: string) => folder === '' || file === folder || file.startsWith(`${folder}/`)
  const candidates = groups.flatMap(({ title, folders }) => folders.filter(holds).map((folder) => ({ title, folder })))
  return candidates.reduce((longest, one) => (one.folder.length > longest.folder.length ? one : longest)).title
}
