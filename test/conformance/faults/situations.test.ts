// What the users of each client library have in the end when something goes wrong at the service.

import '../../harness/isolated-environment.ts'
import { equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { forEveryClient } from './for-every-client.ts'
import { ask } from './outcome.ts'
import { judge, situations } from './situations.ts'

forEveryClient((client, way) => {
  for (const [name, { faults, endings, waitMs = 0 }] of Object.entries(situations)) {
    test(`${name}, ${way}`, async () => {
      const { text, error, shown, requests, waitedMs } = await ask(client, way, faults)
      equal(judge(endings[way], { text, requests, ...(way === 'streamed' && { shown }) }), null, error ?? '')
      if (text === null) notEqual(error, '')
      ok(waitedMs >= waitMs, `The next request came after ${waitedMs} ms.`)
    })
  }
})
