import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAllowed } from './licence.ts'
import { isForProduction, nameOf, readLockfile, requiredFolders, root } from './lockfile.ts'
import {
  allowedLicences,
  bindings,
  licenceExceptions,
  releaseAgeDaysMin,
  runtimePackagesMax,
  scriptsNotNeeded,
} from './policy.ts'

const lockfile = readLockfile()
const all = [...lockfile.packages].map(([folder, locked]) => ({ folder, name: nameOf(folder, locked), ...locked }))

function readManifest(folder: string): Record<string, unknown> | null {
  const path = join(root, folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>) : null
}

test('every package is held by a strong hash', () => {
  assert.ok(all.length > 100)
  for (const { folder, integrity } of all) assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/, folder)
})

test('every package comes from the registry: none from a repository, an address or a folder', () => {
  for (const { folder, resolved, link, version } of all) {
    assert.equal(link, undefined, folder)
    assert.match(version, /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/, folder)
    // Left out, it is the registry that the machine is set up for; only an archive of the registry's may stand there.
    if (resolved !== undefined) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\/.+\.tgz$/, folder)
  }
  const elsewhere = /^(?:git|github|gitlab|bitbucket|gist|https?|file|link|ssh|workspace)[:+]|^[\w.-]+\/[\w.-]+(?:#|$)/
  for (const { folder, dependencies, optionalDependencies } of [...all, { folder: 'Odyssey', ...lockfile.own }]) {
    for (const [name, wanted] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      assert.doesNotMatch(wanted, elsewhere, `${folder} asks for ${name}`)
    }
  }
})

test('the product asks for one exact version of each package, and the lockfile has these', () => {
  const manifest = readManifest('') as Record<string, Record<string, string>>
  for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies'] as const) {
    const wanted = manifest[kind] ?? {}
    assert.deepEqual(lockfile.own[kind], wanted)
    for (const [name, version] of Object.entries(wanted)) {
      assert.match(version, /^(?:npm:@?[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/, name)
      assert.equal(lockfile.packages.get(`node_modules/${name}`)?.version, version.replace(/^npm:.+@/, ''), name)
    }
  }
})

test('a package that would run a program when it is installed is known, and none is let', () => {
  const known = Object.keys(scriptsNotNeeded)
  const isCovered = (name: string, entry: string) =>
    entry.endsWith('/*') ? name.startsWith(entry.slice(0, -1)) : name === entry
  const withScripts = all.filter(({ hasInstallScript }) => hasInstallScript === true).map(({ name }) => name)
  for (const name of withScripts)
    assert.ok(
      known.some((entry) => isCovered(name, entry)),
      `${name} has an install script.`,
    )
  for (const entry of known)
    assert.ok(
      withScripts.some((name) => isCovered(name, entry)),
      `${entry} has none any more.`,
    )
  assert.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
  assert.match(readFileSync(join(root, 'bin/npm.cjs'), 'utf8'), / --ignore-scripts /)
})

test('a service runs with no more packages than the goal', (context) => {
  const required = requiredFolders(lockfile)
  const flagged = all.filter((locked) => isForProduction(locked) && !locked.optional && !locked.devOptional)
  assert.deepEqual([...required].toSorted(), flagged.map(({ folder }) => folder).toSorted(), 'npm counts as we do.')
  const without = requiredFolders(lockfile, bindings).size
  context.diagnostic(`${required.size} packages; ${required.size - without} of them come with ${bindings} alone.`)
  assert.ok(required.size <= runtimePackagesMax.all, `${required.size} packages`)
  assert.ok(without <= runtimePackagesMax.withoutBindings, `${without} packages without ${bindings}`)
})

test('every package is under a licence that lets it be used, changed and passed on', () => {
  const others = all.filter(({ license = '' }) => !isAllowed(license, allowedLicences))
  const named = Object.keys(licenceExceptions)
  const stands = (exception: string, name: string) =>
    exception.endsWith('*') ? name.startsWith(exception.slice(0, -1)) : exception === name
  assert.deepEqual(
    others
      .filter(({ name }) => !named.some((exception) => stands(exception, name)))
      .map(({ name, license }) => `${name}: ${license}`),
    [],
  )
  for (const name of named)
    assert.ok(
      others.some((other) => stands(name, other.name)),
      `${name} is no exception any more.`,
    )
})

test('a package is under the licence that the lockfile says', () => {
  let read = 0
  for (const { folder, license, version } of all) {
    const manifest = readManifest(folder)
    // The optional packages of other platforms are not there.
    if (manifest === null) continue
    read += 1
    assert.deepEqual([manifest['license'], manifest['version']], [license, version], folder)
  }
  assert.ok(read > 100)
})

test('a licence that is one of several counts, and one that comes with another needs both', () => {
  const allowed = new Set(['MIT', 'ISC'])
  for (const expression of ['MIT', '(MIT)', 'GPL-3.0-only OR MIT', '(MIT OR GPL-2.0-only) AND ISC', 'MIT AND ISC']) {
    assert.equal(isAllowed(expression, allowed), true, expression)
  }
  const refused = [
    '',
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    '(MIT',
    'MIT)',
    'MIT ISC',
    'SEE LICENSE IN MIT',
    'UNLICENSED',
  ]
  for (const expression of [...refused, 'GPL-2.0-only WITH MIT', 'GPL-3.0-only OR (MIT AND AGPL-3.0-only)', 'OR MIT']) {
    assert.equal(isAllowed(expression, allowed), false, expression)
  }
})

test('an update takes nothing that is younger than a week', () => {
  assert.ok(releaseAgeDaysMin >= 7)
})
