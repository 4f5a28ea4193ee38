import { deepEqual, equal, match } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { faultOf, makeStatement, signStatement, type Statement } from './provenance.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-provenance-'))
after(() => rmSync(folder, { recursive: true }))

const file = join(folder, 'odyssey-1.0.0.tgz')
writeFileSync(file, 'what was built')
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const commit = 'c'.repeat(40)
const repository = 'https://git.example.com/odyssey'
const builder = 'urn:example:builder'
const statement = makeStatement([file], {
  commit,
  repository,
  builder,
  command: 'npm run package',
  lockfile: Buffer.from('{}'),
})
const envelope = signStatement(statement, privateKey)

test('a statement says which bytes a file has, and of which commit and packages they were made', () => {
  deepEqual(statement.subject, [
    // By `sha256sum`.
    {
      name: 'odyssey-1.0.0.tgz',
      digest: { sha256: '677d60eb4358e77ac812368f7e5b85c9cfda20a4c0e28da88e90627f64648db2' },
    },
  ])
  const [sources, packages] = statement.predicate.buildDefinition.resolvedDependencies
  deepEqual(sources, { uri: `git+${repository}@${commit}`, digest: { gitCommit: commit } })
  // By `printf '{}' | sha256sum`.
  equal(packages?.digest.sha256, '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a')
})

test('the signature is over what DSSE names, so that other tools verify it', () => {
  const payload = Buffer.from(envelope.payload, 'base64')
  const signed = Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${payload.length} ${payload.toString('utf8')}`)
  equal(verify(null, signed, publicKey, Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64')), true)
})

test('another file, another statement, another kind of statement and another key are found', () => {
  equal(faultOf(envelope, file, publicKey), null)
  const other = join(folder, 'other.tgz')
  writeFileSync(other, 'what was not built')
  equal(faultOf(envelope, other, publicKey), 'It says nothing of other.tgz as it is.')
  const lie: Statement = { ...statement, subject: [{ name: 'other.tgz', digest: { sha256: 'f'.repeat(64) } }] }
  const payload = Buffer.from(JSON.stringify(lie)).toString('base64')
  equal(faultOf({ ...envelope, payload }, other, publicKey), 'It was not signed with this key.')
  match(faultOf({ ...envelope, payloadType: 'text/plain' }, file, publicKey) ?? '', /another kind: text\/plain/)
  equal(faultOf(envelope, file, generateKeyPairSync('ed25519').publicKey), 'It was not signed with this key.')
})

test('the program verifies a file, and says what is wrong with one that was changed', () => {
  const paths = { statement: join(folder, 'statement.json'), key: join(folder, 'key.pub') }
  writeFileSync(paths.statement, JSON.stringify(envelope))
  writeFileSync(paths.key, createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }))
  const program = join(import.meta.dirname, '../provenance.ts')
  const run = (path: string) =>
    spawnSync(process.execPath, [program, path, '--verify', paths.statement, '--public-key', paths.key], {
      encoding: 'utf8',
    })
  match(run(file).stdout, /^odyssey-1\.0\.0\.tgz is what .* says\.\n$/)
  const changed = join(folder, 'changed.tgz')
  writeFileSync(changed, 'what was changed')
  const { status, stderr } = run(changed)
  deepEqual([status, stderr], [2, 'It says nothing of changed.tgz as it is.\n'])
})
