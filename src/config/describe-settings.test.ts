import { deepEqual, equal } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listSettings, loadConfig } from './load.ts'
import { writeChosenWeights } from './weights-map.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-settings-'))
after(() => rmSync(home, { recursive: true }))

test('every setting is told with where it comes from, and of secrets only that they are set', () => {
  writeFileSync(
    join(home, 'odyssey.json'),
    JSON.stringify({ server: { drainSeconds: 9 }, billing: { currency: 'EUR' } }),
  )
  writeChosenWeights(home, 'tycho-1.0', { weights: '/weights/a.gguf', source: null, sha256: null })
  const environment = { ODYSSEY_HOME: home, PORT: '9090', HF_TOKEN: 'hf_secret' }
  const settings = listSettings(loadConfig(environment, home), environment)
  const found = (name: string) => {
    const setting = settings.find((one) => one.name === name)
    return [setting?.value, setting?.from]
  }
  deepEqual(found('server.drainSeconds'), ['9', 'file'])
  deepEqual(found('billing.currency'), ['"EUR"', 'file'])
  deepEqual(found('port'), ['9090', 'environment'])
  deepEqual(found('host'), ['"127.0.0.1"', 'default'])
  deepEqual(found('models.tycho-1.0.weights'), ['"/weights/a.gguf"', 'command'])
  deepEqual(found('models.hal-1.0.weights'), ['null', 'default'])
  deepEqual(found('HF_TOKEN'), ['set', 'environment'])
  deepEqual(found('DATABASE_URL'), ['not set', 'default'])
  equal(JSON.stringify(settings).includes('hf_secret'), false)
})

test('the settings of one service are put together once, whatever the file says since', () => {
  const path = join(home, 'odyssey.json')
  writeFileSync(path, JSON.stringify({ server: { drainSeconds: 9 } }))
  const environment = { ODYSSEY_HOME: home }
  const config = loadConfig(environment, home)
  const settings = listSettings(config, environment)
  writeFileSync(path, '{}')
  equal(listSettings(config, environment), settings)
  equal(settings.find(({ name }) => name === 'server.drainSeconds')?.from, 'file')
})
