import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError, loadConfig } from './load.ts'
import { createSecret, loadSecrets } from './load-secret.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-config-'))
after(() => rmSync(folder, { recursive: true }))

function withFile(content: string): Record<string, string> {
  const path = join(folder, `${Math.random()}.json`)
  writeFileSync(path, content)
  return { ODYSSEY_CONFIG: path }
}

test('without anything there are defaults', () => {
  const config = loadConfig({}, folder)
  assert.deepEqual([config.host, config.port, config.home], ['127.0.0.1', 8080, join(folder, 'data')])
  assert.deepEqual(
    Object.values(config.models).map(({ thinking }) => thinking),
    ['off', 'on', 'off'],
  )
})

test('the environment wins over the file, and an empty variable is none', () => {
  const environment = { ...withFile('{"port": 1, "host": "0.0.0.0"}'), PORT: '9000', HOST: '' }
  const config = loadConfig(environment, folder)
  assert.deepEqual([config.host, config.port], ['0.0.0.0', 9000])
})

test('a model may name its weights alone and keeps its own thinking', () => {
  const config = loadConfig(withFile('{"models": {"hal-1.0": {"weights": "a.gguf"}}}'), folder)
  assert.deepEqual(config.models['hal-1.0'], { weights: 'a.gguf', thinking: 'on', outputTokensMax: 64_000 })
  assert.equal(config.models['clarke-1.0'].weights, null)
})

test('every fault is named in one readable list', () => {
  const environment = { ...withFile('{"engine": {"slots": 0, "gpus": 2}, "models": {"hal-2.0": {}}}'), PORT: 'http' }
  assert.throws(
    () => loadConfig(environment, folder),
    (error) => {
      assert.ok(error instanceof ConfigError)
      for (const part of ['PORT', 'engine.slots', 'gpus', 'hal-2.0']) assert.ok(error.message.includes(part), part)
      return true
    },
  )
})

test('a fault is said of the variable or of the file, whichever it came from', () => {
  const file = withFile('{"host": 1}')
  assert.throws(() => loadConfig({ ...file, PORT: '99999' }, folder), {
    message: /\.json: host: [^\n]+\nPORT: [^\n]+$/,
  })
  assert.throws(() => loadConfig({ ...file, HOST: '::1', PORT: '99999' }, folder), { message: /^PORT: [^\n]+$/ })
})

test('origins of pages are taken as browsers write them', () => {
  const load = (origin: string) => loadConfig(withFile(JSON.stringify({ server: { corsOrigins: [origin] } })), folder)
  for (const origin of ['*', 'https://example.com', 'http://localhost:3000', 'chrome-extension://abcdef']) {
    assert.deepEqual(load(origin).server.corsOrigins, [origin])
  }
  for (const origin of ['example.com', 'https://example.com/', 'https://Example.com', 'https://*.example.com', '']) {
    assert.throws(() => load(origin), ConfigError)
  }
})

test('a file that is missing, no JSON or no object is a fault', () => {
  for (const environment of [{ ODYSSEY_CONFIG: '/nowhere.json' }, withFile('{'), withFile('[]')]) {
    assert.throws(() => loadConfig(environment, folder), ConfigError)
  }
})

test('the database is named by the environment alone, and a fault does not repeat its password', () => {
  const url = 'postgresql://odyssey:secret@db/odyssey?sslmode=verify-full'
  assert.equal(loadConfig({ DATABASE_URL: url }, folder).databaseUrl, url)
  assert.equal(loadConfig({ DATABASE_URL: '' }, folder).databaseUrl, null)
  assert.throws(() => loadConfig(withFile(`{"databaseUrl": "${url}"}`), folder), ConfigError)
  for (const wrong of ['mysql://odyssey:secret@db/odyssey', 'postgresql://odyssey:secret@ db']) {
    assert.throws(
      () => loadConfig({ DATABASE_URL: wrong }, folder),
      (error) => error instanceof ConfigError && !error.message.includes('secret'),
    )
  }
})

test('a child learns nothing secret of the environment', () => {
  const { childEnvironment } = loadConfig({ PATH: '/bin', ODYSSEY_SECRET: 'x', AWS_SECRET_ACCESS_KEY: 'x' }, folder)
  assert.deepEqual(childEnvironment, { PATH: '/bin' })
})

test('the secret is made once, for the owner alone, and a damaged one is refused', () => {
  assert.throws(() => loadSecrets(folder), /secret\.key cannot be read: /)
  assert.deepEqual([createSecret(folder), createSecret(folder)], [true, false])
  const first = loadSecrets(folder)
  assert.deepEqual(loadSecrets(folder), first)
  assert.notDeepEqual(first.keyHashSecret, first.signatureKey)
  assert.equal(statSync(join(folder, 'secret.key')).mode & 0o777, 0o600)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('secret.key')),
    ['secret.key'],
  )
  writeFileSync(join(folder, 'secret.key'), 'short')
  assert.throws(() => loadSecrets(folder), /damaged/)
})
