import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { loadConfig } from '../../config/load.ts'
import { writeChosenWeights } from '../../config/weights-map.ts'
import { createLog } from '../../telemetry/log.ts'
import { WeightsSwaps } from './weights-swaps.ts'
import type { Swap } from './swap-weights.ts'

const root = mkdtempSync(join(tmpdir(), 'odyssey-swaps-'))
after(() => rmSync(root, { recursive: true }))

function openSwaps(home: string, swap: (swap: Swap) => Promise<string>): WeightsSwaps {
  return new WeightsSwaps({ config: loadConfig({ ODYSSEY_HOME: home }, home), log: createLog('silent'), swap })
}

/** Every promise that is settled by now has been followed up. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('what was chosen while the service was starting is swapped once it has started', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const chosen = { weights: join(home, 'a.gguf'), source: null, sha256: null }
  writeChosenWeights(home, 'tycho-1.0', chosen)
  const performed: Swap[] = []
  const swaps = openSwaps(home, async (swap) => {
    performed.push(swap)
    return ''
  })
  writeChosenWeights(home, 'tycho-1.0', null)
  writeChosenWeights(home, 'hal-1.0', chosen)
  swaps.startLate()
  await settled()
  assert.deepEqual(performed, [
    { model: 'hal-1.0', chosen },
    { model: 'tycho-1.0', chosen: null },
  ])
})

test('a damaged file of choices does not keep the service from starting', () => {
  const home = mkdtempSync(join(root, 'home-'))
  const swaps = openSwaps(home, () => Promise.resolve(''))
  writeFileSync(join(home, 'models.json'), '{')
  swaps.startLate()
})

test('swaps are performed one after the other, and a refused one does not stop the next', async () => {
  const first = Promise.withResolvers<string>()
  const swaps = openSwaps(mkdtempSync(join(root, 'home-')), ({ model }) =>
    model === 'hal-1.0' ? first.promise : Promise.resolve('Two slots.'),
  )
  const ids = (['hal-1.0', 'tycho-1.0'] as const).map((model) => {
    swaps.start(model, { model, chosen: null })
    return model
  })
  const states = () => ids.map((id) => swaps.find(id)).map((progress) => [progress?.state, progress?.message])
  await settled()
  assert.deepEqual(states(), [
    ['under-way', ''],
    ['waiting', ''],
  ])
  first.reject(new Error('Too large.'))
  await settled()
  assert.deepEqual(states(), [
    ['refused', 'Too large.'],
    ['done', 'Two slots.'],
  ])
  assert.equal(swaps.find('unknown'), null)
})

test('what became of the last hundred swaps is remembered', async () => {
  const swaps = openSwaps(mkdtempSync(join(root, 'home-')), () => Promise.resolve(''))
  for (let index = 0; index < 101; index++) swaps.start(String(index), { model: 'hal-1.0', chosen: null })
  await settled()
  assert.equal(swaps.find('0'), null)
  assert.equal(swaps.find('1')?.state, 'done')
})
