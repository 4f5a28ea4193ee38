import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../../config/load.ts'
import { createFingerprint } from './describe-engines.ts'
import type { RunningEngine } from '../../models/fleet/start-engine.ts'

const config = loadConfig({ ODYSSEY_HOME: '/nowhere' })

/** The service's fingerprint with a file of weights, under a key of so many of this byte. */
function fingerprintOf(byte: number, weightsPath = '/weights/public-name.gguf'): string {
  const engine = { weightsPath, file: { bytes: 1_234, changedMs: 5_678 } } as RunningEngine
  return createFingerprint({ config, pool: { of: () => engine }, key: new Uint8Array(32).fill(byte) })()
}

test('the fingerprint is the same for the same deployment and another one for other weights', () => {
  assert.match(fingerprintOf(1), /^fp_[0-9a-f]{10}$/)
  assert.equal(fingerprintOf(1), fingerprintOf(1))
  assert.notEqual(fingerprintOf(1), fingerprintOf(1, '/weights/other.gguf'))
})

test('who guesses the file of weights cannot compute the fingerprint without the install’s secret', () => {
  assert.notEqual(fingerprintOf(1), fingerprintOf(2))
})
