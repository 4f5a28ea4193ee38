import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ConfigError } from './config-error.ts'
import { loadConfig } from './load.ts'
import { readWeightsMap, writeChosenWeights } from './weights-map.ts'

const root = mkdtempSync(join(tmpdir(), 'odyssey-map-'))
after(() => rmSync(root, { recursive: true }))

function newHome(): string {
  return mkdtempSync(join(root, 'home-'))
}

const load = (home: string) => loadConfig({ ODYSSEY_HOME: home }, home)

test('the configuration says the weights that a command chose', () => {
  const home = newHome()
  const weights = join(home, 'weights/a.gguf')
  writeChosenWeights(home, 'hal-1.0', { weights, source: 'o/r/a.gguf', sha256: null })
  writeChosenWeights(home, 'tycho-1.0', { weights: '/elsewhere/b.gguf', source: null, sha256: null })
  const { models, weightsChoices } = load(home)
  assert.deepEqual(
    [models['hal-1.0'].weights, models['tycho-1.0'].weights, models['clarke-1.0'].weights],
    [weights, '/elsewhere/b.gguf', null],
  )
  assert.deepEqual(weightsChoices, { 'hal-1.0': 'command', 'tycho-1.0': 'command', 'clarke-1.0': 'built-in' })
  writeChosenWeights(home, 'hal-1.0', null)
  assert.equal(load(home).models['hal-1.0'].weights, null)
  assert.deepEqual(Object.keys(readWeightsMap(home)), ['tycho-1.0'])
})

test('models of one file have chosen the same of it, whichever of them was given it anew', () => {
  const home = newHome()
  const [weights, other] = [join(home, 'weights/a.gguf'), join(home, 'weights/b.gguf')]
  const chosen = (path: string, sha256: string | null) => ({ weights: path, source: 'o/r/a.gguf', sha256 })
  writeChosenWeights(home, 'hal-1.0', chosen(weights, 'old'))
  writeChosenWeights(home, 'tycho-1.0', chosen(other, 'its own'))
  writeChosenWeights(home, 'clarke-1.0', chosen(weights, 'new'))
  const map = readWeightsMap(home)
  const known = ['hal-1.0', 'tycho-1.0', 'clarke-1.0'] as const
  assert.deepEqual(
    known.map((id) => map[id]?.sha256),
    ['new', 'its own', 'new'],
  )
})

test('weights in a data folder that was moved are found', () => {
  const home = newHome()
  writeChosenWeights(home, 'hal-1.0', { weights: join(home, 'weights/a.gguf'), source: null, sha256: null })
  renameSync(home, `${home}-moved`)
  assert.equal(load(`${home}-moved`).models['hal-1.0'].weights, join(`${home}-moved`, 'weights/a.gguf'))
})

test('the config file wins over weights that a command chose', () => {
  const home = newHome()
  writeChosenWeights(home, 'hal-1.0', { weights: '/a.gguf', source: null, sha256: null })
  writeFileSync(join(home, 'odyssey.json'), '{"models": {"hal-1.0": {"weights": "b.gguf"}}}')
  const { models, weightsChoices } = load(home)
  assert.deepEqual([models['hal-1.0'].weights, weightsChoices['hal-1.0']], ['b.gguf', 'config-file'])
})

test('a damaged file is a fault, and not overwritten', () => {
  const home = newHome()
  writeFileSync(join(home, 'models.json'), '{"hal-1.0": {}}')
  assert.throws(() => load(home), ConfigError)
  assert.throws(() => writeChosenWeights(home, 'hal-1.0', null))
  assert.equal(readFileSync(join(home, 'models.json'), 'utf8'), '{"hal-1.0": {}}')
})
