// A fault of the service itself while it writes an answer, in the middle of it: it is nobody's leaving, and free.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { formats, paths } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { microPrices } from '../harness/micro-prices.ts'
import { until } from '../harness/start-service.ts'

/** A text that no encoder can write. */
const unwritable = {
  length: 1,
  toString: () => {
    throw new TypeError('This cannot be a text.')
  },
  toJSON: () => {
    throw new TypeError('This cannot be a text.')
  },
} as unknown as string

let service: FakeService
before(async () => {
  const texts = ['one ', 'two ', unwritable, 'three']
  service = await startFakeService({ script: () => [{ kind: 'block', block: { kind: 'text' }, texts }] }, undefined, {
    prices: microPrices,
  })
})
after(() => service.close())
beforeEach(async () => {
  await service.db.updateTable('ledger_progress').set({ deletable_to: 1_000 }).execute()
  await service.db.deleteFrom('ledger').execute()
})

for (const format of formats) {
  for (const isStream of [true, false]) {
    test(`${format}: a ${isStream ? 'stream' : 'whole answer'} that cannot be written fails on our side, and costs nothing`, async () => {
      const messages = [{ role: 'user', content: 'x' }]
      const response = await fetch(`${service.address}${paths[format]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.key}` },
        body: JSON.stringify({ model: 'clarke-1.0', max_tokens: 900, stream: isStream, messages }),
      })
      equal(response.status, isStream ? 200 : 500)
      const said = await response.text().catch(() => '')
      ok(!said.includes('[DONE]') && !said.includes('message_stop'))
      const read = service.db.selectFrom('ledger').select(['outcome', 'reason', 'cost_micros'])
      const row = await until(() => read.executeTakeFirst(), 'There is no row.')
      deepEqual({ ...row }, { outcome: 'failed', reason: 'internal', cost_micros: 0 })
    })
  }
}
