// When the dashboard is built anew: when a source of it has changed, and not when it only looks as if; by one at a time.

import { deepEqual, equal } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

type Dashboard = {
  hashOf(root: string): string
  isStale(root: string): boolean
  looksOf(root: string): string
}

const { hashOf, isStale, looksOf } = createRequire(import.meta.url)('../../bin/dashboard.cjs') as Dashboard

/** A folder with sources of a dashboard, and a build of them. */
function open(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'odyssey-stale-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['web/src', 'web/dist', 'docs']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'web/build.ts'), 'build()')
  writeFileSync(join(root, 'web/src/page.ts'), 'page')
  writeFileSync(join(root, 'docs/guide.md'), 'guide')
  writeFileSync(join(root, 'package-lock.json'), '{}')
  writeFileSync(join(root, 'web/dist/stamp'), hashOf(root))
  writeFileSync(join(root, 'web/dist/looks'), looksOf(root))
  return root
}

test('a dashboard is stale as soon as a source, a guide or a package has changed', (t) => {
  for (const file of ['web/src/page.ts', 'docs/guide.md', 'package-lock.json', 'web/src/new.ts']) {
    const root = open(t)
    equal(isStale(root), false)
    writeFileSync(join(root, file), 'changed')
    equal(isStale(root), true, file)
  }
})

test('a source that was written anew and is the same makes no dashboard stale, and is looked at once', (t) => {
  const root = open(t)
  const looks = looksOf(root)
  utimesSync(join(root, 'docs/guide.md'), 1, 1)
  deepEqual([looksOf(root) === looks, isStale(root)], [false, false])
  // What it looks like now is known: its content is not read again, whatever it is.
  writeFileSync(join(root, 'web/dist/stamp'), 'of other sources')
  equal(isStale(root), false)
})

test('without sources, as in a package, nothing is stale', (t) => {
  const root = open(t)
  rmSync(join(root, 'web/build.ts'))
  rmSync(join(root, 'web/dist/stamp'))
  equal(isStale(root), false)
})

/** Builds once whoever holds the lock has shown that they live since it began; ends in a failure if that never comes. */
const patientBuild = `
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
const lock = '../.odyssey-dashboard'
const shown = () => statSync(lock + '/' + readdirSync(lock)[0]).mtimeMs
process.chdir(import.meta.dirname)
const before = shown()
for (let waited = 0; shown() === before; waited += 100) {
  if (waited > 30_000) throw new Error('Whoever holds the lock showed no sign of life.')
  await new Promise((resolve) => setTimeout(resolve, 100))
}
mkdirSync(process.argv[2] + '/assets', { recursive: true })
writeFileSync(process.argv[2] + '/index.html', 'built')
`

test('whoever builds a dashboard shows meanwhile that they live, so that nobody else takes their place', (t) => {
  const root = open(t)
  cpSync(join(import.meta.dirname, '../../bin'), join(root, 'bin'), { recursive: true })
  // What a build is made with is there.
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'))
  writeFileSync(join(root, 'web/build.ts'), patientBuild)
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/build-dashboard.cjs')], { encoding: 'utf8' })
  equal(status, 0, stderr)
  equal(readFileSync(join(root, 'web/dist/index.html'), 'utf8'), 'built')
})
