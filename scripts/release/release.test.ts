import { equal, match, ok, throws } from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { addRelease, groupOf } from './changelog.ts'
import { nextVersion } from './version.ts'

const program = join(import.meta.dirname, '../release.ts')
const folder = mkdtempSync(join(tmpdir(), 'odyssey-release-'))
after(() => rmSync(folder, { recursive: true }))

const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false']
const git = (...words: string[]) => execFileSync('git', [...identity, ...words], { cwd: folder, encoding: 'utf8' })
const read = (path: string) => readFileSync(join(folder, path), 'utf8')

function commit(subject: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  git('add', '--all')
  git('commit', '--quiet', '--message', subject)
}

function release(...words: string[]) {
  const environment = { ...process.env, GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' }
  return spawnSync(process.execPath, [program, ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...environment, GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' },
  })
}

test('the version after another has one part raised and nothing behind it', () => {
  equal(nextVersion('1.2.3', 'patch'), '1.2.4')
  equal(nextVersion('1.2.3', 'minor'), '1.3.0')
  equal(nextVersion('1.2.3', 'major'), '2.0.0')
  throws(() => nextVersion('1.2', 'patch'), /no version of three numbers/)
})

test('a change belongs where most of its files are, and its tests count only where it has nothing else', () => {
  equal(groupOf({ files: ['src/http/sso/a.ts', 'src/http/server.ts', 'src/http/sso/b.ts'] }), 'Accounts and sign-in')
  equal(groupOf({ files: ['web/src/a.tsx', 'test/a.ts', 'test/b.ts', 'test/c.test.ts'] }), 'Dashboard')
  equal(groupOf({ files: ['test/a.ts', 'src/limits/a.test.ts'] }), 'Limits and billing')
  equal(groupOf({ files: ['test/a.ts'] }), 'Tests and tools')
})

test('a release stands in front of those before, and none stands there twice', () => {
  const commits = [{ hash: 'abc1234', subject: 'Read `<think>` in *any* case', files: ['src/protocols/a.ts'] }]
  const first = addRelease('', { version: '1.0.0', day: '2026-01-01', commits, migrations: [] })
  match(first, /^# Changelog\n/)
  match(first, /- Read \\`\\<think\\>\\` in \\\*any\\\* case \(abc1234\)/)
  const both = addRelease(first, { version: '1.1.0', day: '2026-02-01', commits, migrations: ['101-tags'] })
  ok(both.indexOf('## 1.1.0 – 2026-02-01') < both.indexOf('## 1.0.0 – 2026-01-01'))
  match(both, /the first start brings the schema up to date \(`101-tags`\)/)
  ok(both.endsWith(first.slice(first.indexOf('## 1.0.0'))), 'what stood there stands there still')
  throws(
    () => addRelease(both, { version: '1.0.0', day: '2026-03-01', commits, migrations: [] }),
    /has 1\.0\.0 already/,
  )
})

test('releases of a repository: the first, a repair, and one with a migration, which is refused as a repair', () => {
  git('init', '--quiet', '--initial-branch', 'main')
  const manifest = JSON.stringify({ name: 'odyssey', version: '0.1.0' }, null, 2)
  const lockfile = JSON.stringify({ version: '0.1.0', packages: { '': { version: '0.1.0' } } }, null, 2)
  commit('Begin', {
    'package.json': manifest,
    'package-lock.json': lockfile,
    'deploy/chart/Chart.yaml': 'name: odyssey\nversion: 0.1.0\nappVersion: "0.1.0"\n',
    'src/db/migrations/001-foundation.ts': '',
  })

  equal(release('patches').status, 2)
  match(release('patches').stderr, /^Usage: /)
  writeFileSync(join(folder, 'left-over'), '')
  match(release('minor').stderr, /not committed/)
  rmSync(join(folder, 'left-over'))

  match(release('minor', '--dry-run').stdout, /## 0\.2\.0 – \d{4}-\d\d-\d\d\n/)
  equal(git('tag'), '')
  equal(release('minor').status, 0)
  equal(git('tag').trim(), 'v0.2.0')
  equal(git('log', '-1', '--format=%s').trim(), 'Release 0.2.0')
  equal(git('status', '--porcelain'), '')
  match(read('package-lock.json'), /^\{\s+"version": "0\.2\.0"[^]*"version": "0\.2\.0"/)
  equal(read('deploy/chart/Chart.yaml'), 'name: odyssey\nversion: 0.2.0\nappVersion: "0.2.0"\n')
  match(read('CHANGELOG.md'), /The first release\./)

  commit('Show tags', { 'web/src/tags.tsx': '', 'src/db/migrations/002-tags.ts': '' })
  match(release('patch').stderr, /new migrations \(002-tags\), so it is a minor release at least/)
  equal(release('minor').status, 0)
  const changelog = read('CHANGELOG.md')
  match(changelog, /## 0\.3\.0 [^]*`002-tags`[^]*- Show tags [^]*## 0\.2\.0 [^]*- Begin /)
  ok(!changelog.includes('- Release'), 'a release itself is no change')

  commit('Mend tags', { 'web/src/tags.tsx': 'x' })
  equal(release('patch').status, 0)
  match(read('package.json'), /"version": "0\.3\.1"/)
  match(read('CHANGELOG.md'), /## 0\.3\.1 [^]*schema of the database is that of the release before\.[^]*## 0\.3\.0 /)
  match(release('patch').stderr, /Nothing has changed since v0\.3\.1/)
})
