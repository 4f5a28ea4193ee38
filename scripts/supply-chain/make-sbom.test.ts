import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isForProduction, nameOf, readLockfile, requiredFolders, root } from './lockfile.ts'
import { makeSbom, type Sbom } from './make-sbom.ts'

const lockfile = readLockfile()
const sbom = makeSbom(lockfile)
const production = [...lockfile.packages].filter(([, locked]) => isForProduction(locked))

test('the bill of materials has every package of an installation that runs the service, and no other', () => {
  const expected = new Set(
    production.map(([folder, { version, ...rest }]) => `${nameOf(folder, { version, ...rest })}@${version}`),
  )
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`)
  assert.deepEqual(listed.toSorted(), [...expected].toSorted())
  for (const name of Object.keys(lockfile.own.dependencies ?? {})) {
    assert.ok(
      sbom.components.some((component) => component.name === name && component.scope === 'required'),
      name,
    )
  }
})

test('each package in it has the hash that the lockfile has, its licence, and its scope', () => {
  const required = requiredFolders(lockfile)
  for (const [folder, locked] of production) {
    const purl = `pkg:npm/${nameOf(folder, locked).replace('@', '%40')}@${locked.version}`
    const component = sbom.components.find((candidate) => candidate.purl === purl)
    const [hash] = component?.hashes ?? []
    assert.equal(`sha512-${Buffer.from(hash?.content ?? '', 'hex').toString('base64')}`, locked.integrity, purl)
    assert.equal(JSON.stringify(component?.licenses).includes(`"${locked.license ?? ''}"`), true, purl)
    if (required.has(folder)) assert.equal(component?.scope, 'required', purl)
  }
})

test('following what asks for what reaches every package in it, from the product', () => {
  const asked = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))
  const reached = new Set<string>()
  const waiting = [sbom.metadata.component['bom-ref']]
  for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
    if (reached.has(ref)) continue
    reached.add(ref)
    waiting.push(...(asked.get(ref) ?? []))
  }
  const all = [sbom.metadata.component['bom-ref'], ...sbom.components.map((component) => component['bom-ref'])]
  assert.deepEqual([...reached].toSorted(), all.toSorted())
  assert.deepEqual([...asked.keys()].toSorted(), all.toSorted())
})

test('the same lockfile makes the same bytes, and a stamp is there only if given', () => {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, ['scripts/sbom.ts', ...args], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  assert.equal(run(), `${JSON.stringify(sbom, null, 2)}\n`)
  assert.equal(run(), run())
  const stamped = JSON.parse(
    run('--timestamp', '2027-01-31T12:00:00Z', '--serial-number', 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79'),
  ) as Sbom
  assert.equal(stamped.serialNumber, 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79')
  assert.equal(stamped.metadata.timestamp, '2027-01-31T12:00:00.000Z')
})
