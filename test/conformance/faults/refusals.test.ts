// What trying again cannot help: one request, and the service's own words reach the user.

import '../../harness/isolated-environment.ts'
import { deepEqual, match } from 'node:assert/strict'
import { test } from 'node:test'
import { refused } from './faulty-service.ts'
import { forEveryClient } from './for-every-client.ts'
import { ask, type Circumstances } from './outcome.ts'

const final: Readonly<Record<string, { readonly situation: Circumstances; readonly words: RegExp }>> = {
  'a wrong key is reported at once': {
    situation: { asking: { key: 'sk-wrong-0123456789' } },
    words: /Incorrect API key provided|Invalid bearer token|invalid x-api-key/,
  },
  'an unknown model is reported at once, with those that are there': {
    situation: { asking: { model: 'gpt-4o' } },
    words: /gpt-4o.*vailable models: hal-1\.0, clarke-1\.0, tycho-1\.0/,
  },
  'a prompt that does not fit is reported at once, with the numbers': {
    situation: { always: refused({ code: 'context-exceeded', inputTokens: 260_000, windowTokens: 250_000 }) },
    // Messages tells how long a prompt may be, chat completions how long it may be together with its answer.
    words: /260000.*249999|250000.*260000/,
  },
}

const longLimit = refused({ code: 'rate-limited', retryAfterMs: 600_000 })

forEveryClient((client, way) => {
  for (const [name, { situation, words }] of Object.entries(final)) {
    test(`${name}, ${way}`, async () => {
      const { error, text, shown, requests } = await ask(client, way, situation)
      deepEqual({ text, shown, requests }, { text: null, shown: '', requests: 1 }, error ?? '')
      match(error ?? '', words)
    })
  }

  if (client.obeysShouldRetry) {
    test(`a wait of minutes is not begun, ${way}`, async () => {
      const { error, text, requests } = await ask(client, way, { always: longLimit })
      deepEqual({ text, requests }, { text: null, requests: 1 })
      match(error ?? '', /The request is refused/)
    })
  }
})
