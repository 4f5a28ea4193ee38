// Long silences, with the service's clock moved by hand so that they pass at once: what it sends to
// keep a connection alive must not disturb any client.

import '../../harness/isolated-environment.ts'
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { answer, pausedUntil, type FaultyService } from './faulty-service.ts'
import { forEveryClient } from './for-every-client.ts'
import { ask } from './outcome.ts'

/** What fills a silence, twice: the engine waits for it, so without it there is no answer. */
const fillings = { whole: /^  $/, streamed: /(: keep-alive\n\n){2}|(event: ping\ndata: [^\n]*\n\n){3}/ }

forEveryClient((client, way) => {
  test(`a request that waits long for its turn is answered once, ${way}`, async () => {
    // A stream has no format before its start, so both formats are kept alive by comments until then.
    const startsOnce = way === 'streamed' ? /^(: keep-alive\n\n){2}/ : fillings[way]
    const { text, error, requests } = await ask(client, way, { startsOnce, meanwhile: advance })
    deepEqual({ text, requests }, { text: answer, requests: 1 }, error ?? '')
  })

  test(`an answer that pauses long is whole, ${way}`, async () => {
    const { text, error, requests } = await ask(client, way, { always: pausedUntil(fillings[way]), meanwhile: advance })
    deepEqual({ text, requests }, { text: answer, requests: 1 }, error ?? '')
  })
})

function advance({ clock }: FaultyService): void {
  clock.advance(5_000)
}
