// npm run release -- patch | minor | major       writes CHANGELOG.md, sets the version, commits and tags
// npm run release -- minor --dry-run             prints what it would write into CHANGELOG.md
//
// docs/operations/upgrades.md says what a version promises. Nothing is sent anywhere: push the commit and the tag when the tests
// of the commit have passed.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Refused, runOrRefuse } from './release/refused.ts'
import { addRelease, type Commit } from './release/changelog.ts'
import { leastPart, nextVersion, versionParts, type VersionPart } from './release/version.ts'

const usage = 'Usage: npm run release -- patch | minor | major [--dry-run]'
const root = process.cwd()
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 })

runOrRefuse(release)

function release(): void {
  const { part, isDryRun } = readArguments()
  if (!isDryRun && git('status', '--porcelain') !== '')
    throw new Refused('There are changes that are not committed: a release is what a commit holds.')
  const { version: current } = JSON.parse(read('package.json')) as { version: string }
  const last = lastTag()
  const commits = readCommits(last)
  if (commits.length === 0) throw new Refused(`Nothing has changed since ${last ?? 'the beginning'}.`)
  const migrations = newMigrations(last)
  const least = leastPart(migrations ?? [])
  if (versionParts.indexOf(part) > versionParts.indexOf(least))
    throw new Refused(
      `There are new migrations (${(migrations ?? []).join(', ')}), so it is a ${least} release at least.`,
    )
  const version = nextVersion(current, part)
  const before = existsSync(join(root, 'CHANGELOG.md')) ? read('CHANGELOG.md') : ''
  const day = new Date().toISOString().slice(0, 10)
  const after = addRelease(before, { version, day, commits, migrations })
  if (isDryRun) return void process.stdout.write(after)
  writeFileSync(join(root, 'CHANGELOG.md'), after)
  setVersion(current, version)
  git('add', 'CHANGELOG.md', 'package.json', 'package-lock.json', 'deploy/chart/Chart.yaml')
  git('commit', '--quiet', '--message', `Release ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Odyssey ${version}`)
  console.log(`v${version} with ${commits.length} commits. When its tests have passed: git push --follow-tags`)
}

function readArguments(): { part: VersionPart; isDryRun: boolean } {
  const { values, positionals } = parseArgs({
    options: { 'dry-run': { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const part = versionParts.find((name) => name === positionals[0])
  if (part === undefined || positionals.length > 1) throw new Refused(usage)
  return { part, isDryRun: values['dry-run'] }
}

/** The newest release that this commit comes from; null before the first. */
function lastTag(): string | null {
  const [tag = ''] = git('tag', '--list', 'v[0-9]*', '--merged', 'HEAD', '--sort=-version:refname').split('\n')
  return tag === '' ? null : tag
}

function readCommits(last: string | null): Commit[] {
  const range = last === null ? 'HEAD' : `${last}..HEAD`
  const log = git('log', '--no-merges', '--reverse', '--name-only', '--format=%x1e%h%x1f%s%x1f', range)
  return log.split('\u001e').flatMap((entry) => {
    const [hash = '', subject = '', names = ''] = entry.split('\u001f')
    const files = names.split('\n').filter((name) => name !== '')
    return files.length === 0 ? [] : [{ hash, subject, files }]
  })
}

/** By their files, since a migration that a release has is never changed or taken away; null before the first release. */
function newMigrations(last: string | null): string[] | null {
  if (last === null) return null
  const files = git('diff', '--name-only', '--diff-filter=A', last, 'HEAD', '--', 'src/db/migrations').split('\n')
  return files.flatMap((file) => /\/(\d{3}-[a-z-]+)\.ts$/.exec(file)?.[1] ?? [])
}

/** In the package, its lockfile and the chart, whose version is the product's. */
function setVersion(current: string, version: string): void {
  const inJson = `"version": "${current}"`
  const inJsonNow = `"version": "${version}"`
  replaceIn('package.json', [[inJson, inJsonNow]])
  // The lockfile names the package twice at its top, before any other.
  replaceIn('package-lock.json', [
    [inJson, inJsonNow],
    [inJson, inJsonNow],
  ])
  replaceIn('deploy/chart/Chart.yaml', [
    [`\nversion: ${current}\n`, `\nversion: ${version}\n`],
    [`\nappVersion: "${current}"\n`, `\nappVersion: "${version}"\n`],
  ])
}

function replaceIn(path: string, changes: readonly (readonly [from: string, to: string])[]): void {
  const changed = changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${path} does not say ${from.trim()}.`)
    return text.replace(from, () => to)
  }, read(path))
  writeFileSync(join(root, path), changed)
}
