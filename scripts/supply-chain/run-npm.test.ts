// npm itself, with a registry of our own that has a package in an old version and one from today.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { after, before, test } from 'node:test'
import { releaseAgeDaysMin } from './policy.ts'
import { knowsReleaseAge, updateArguments } from './run-npm.ts'

const dayMs = 86_400_000
const folder = mkdtempSync(join(tmpdir(), 'odyssey-update-'))
const knows = knowsReleaseAge({ folder })
const skip = knows === true ? false : 'the npm here does not know a minimum age, and the update refuses to run with it'

const ages = { '1.0.0': 400, '1.1.0': releaseAgeDaysMin + 1, '1.2.0': releaseAgeDaysMin - 1, '1.3.0': 0 }
const registry = createServer((_request, response) => {
  const versions = Object.keys(ages).map((version) => {
    const integrity = `sha512-${createHash('sha512').update(version).digest('base64')}`
    const dist = { tarball: `${address()}/dated/-/dated-${version}.tgz`, integrity }
    return [version, { name: 'dated', version, dist }]
  })
  const time = Object.entries(ages).map(([version, days]) => [
    version,
    new Date(Date.now() - days * dayMs).toISOString(),
  ])
  const latest = Object.keys(ages).at(-1)
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({
      name: 'dated',
      'dist-tags': { latest },
      versions: Object.fromEntries(versions),
      time: Object.fromEntries(time),
    }),
  )
})
const address = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`

before(async () => {
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
})
after(() => {
  registry.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs an update of a project that asks for the package, and returns the version it has then; null where npm refuses. */
async function update(ageDays: number, wanted: readonly string[] = []): Promise<string | null> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'product', dependencies: { dated: '^1.0.0' } }))
  rmSync(join(folder, 'package-lock.json'), { force: true })
  const environment = {
    PATH: process.env['PATH'],
    HOME: folder,
    npm_config_registry: address(),
    npm_config_cache: join(folder, 'cache'),
  }
  // Not at once with this process, which is the registry.
  const child = spawn('npm', updateArguments(ageDays, wanted), { cwd: folder, env: environment, stdio: 'ignore' })
  const [status] = (await once(child, 'exit')) as [number | null]
  if (status !== 0) return null
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  return packages['node_modules/dated']?.version ?? null
}

test('an update takes the newest version that is a week old', { skip }, async () => {
  assert.equal(await update(releaseAgeDaysMin), '1.1.0')
})

test('a version by its number that is younger is refused', { skip }, async () => {
  assert.equal(await update(releaseAgeDaysMin, ['dated@1.3.0']), null)
  assert.equal(await update(releaseAgeDaysMin, ['dated@1.1.0']), '1.1.0')
})

test('a repair that cannot wait is taken when it is asked for', { skip }, async () => {
  assert.equal(await update(0, ['dated@1.3.0']), '1.3.0')
})
