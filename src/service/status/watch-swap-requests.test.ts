import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../../test/harness/start-service.ts'
import { loadConfig } from '../../config/load.ts'
import { writeChosenWeights } from '../../config/weights-map.ts'
import { createLog } from '../../telemetry/log.ts'
import type { ServiceStatus } from './status-file.ts'
import { writeSwapRequest } from '../../models/fleet/swap-request.ts'
import type { Swap } from '../../models/fleet/swap-weights.ts'
import { watchSwapRequests } from './watch-swap-requests.ts'

const root = mkdtempSync(join(tmpdir(), 'odyssey-watch-'))
after(() => rmSync(root, { recursive: true }))

function watch(home: string, swap: (swap: Swap) => Promise<string>) {
  const told: ServiceStatus['swap'][] = []
  const config = loadConfig({ ODYSSEY_HOME: home }, home)
  const start = () =>
    watchSwapRequests({ config, log: createLog('silent'), swap, publish: (news) => void told.push(news) })
  return { told, start }
}

test('what was chosen while the service was starting is made up for', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const chosen = { weights: join(home, 'a.gguf'), source: null, sha256: null }
  writeChosenWeights(home, 'tycho-1.0', chosen)
  const swaps: Swap[] = []
  const { start } = watch(home, async (swap) => {
    swaps.push(swap)
    return ''
  })
  writeChosenWeights(home, 'tycho-1.0', null)
  writeChosenWeights(home, 'hal-1.0', chosen)
  const stop = start()
  await until(() => swaps.length === 2, 'The choice is not noticed.')
  stop()
  assert.deepEqual(swaps, [
    { model: 'hal-1.0', chosen },
    { model: 'tycho-1.0', chosen: null },
  ])
})

test('a request is taken once and answered, and one that makes no sense changes nothing', async () => {
  const home = mkdtempSync(join(root, 'home-'))
  const { told, start } = watch(home, () => Promise.reject(new Error('No.')))
  const stop = start()
  writeFileSync(join(home, 'swap-request.json'), '{"id": 1}')
  await new Promise((resolve) => setTimeout(resolve, 600))
  writeSwapRequest(home, { id: 'second', model: 'hal-1.0', chosen: null })
  await until(() => told.length === 2, 'The request is not answered.')
  await new Promise((resolve) => setTimeout(resolve, 600))
  stop()
  assert.deepEqual(told, [
    { requestId: 'second', state: 'under-way', message: '' },
    { requestId: 'second', state: 'refused', message: 'No.' },
  ])
})
