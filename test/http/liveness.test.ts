// How soon a client hears of its request, and how soon the engine hears that the client is gone, on every
// route. What is promised is measured and told; the limits here are four times as wide, because a machine
// that runs tests does other things as well.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { GenerationAborted, zeroUsage } from '../../src/core/generation.ts'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { quantile } from '../campaigns/campaign.ts'
import { bodyFor, formats, paths } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const headMsPromised = 200
const abortMsPromised = 250
const slack = 4
const rounds = 15

const never = new Promise(() => {})
const hold: FakeStep = { kind: 'wait-for', event: never }
const end: FakeStep = { kind: 'end', reason: { kind: 'end' } }
const word: FakeStep = { kind: 'block', block: { kind: 'text' }, texts: ['a'] }

let service: FakeService
let script: readonly FakeStep[] = []
let startsAfter: Promise<unknown> = Promise.resolve()
let begun = 0

before(async () => {
  service = await startFakeService({
    script: () => {
      begun += 1
      return script
    },
    startsAfter: () => startsAfter,
  })
})
after(async () => {
  service.app.server.closeAllConnections()
  await service.close()
})

type Route = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: unknown }

const asking = (isStream: boolean): readonly Route[] =>
  formats.map((format) => ({ method: 'POST', path: paths[format], body: bodyFor(format, { stream: isStream }) }))
const counting: Route = { method: 'POST', path: '/v1/messages/count_tokens', body: bodyFor('messages') }
const listing: readonly Route[] = ['/v1/models', '/v1/models/clarke-1.0'].map((path) => ({ method: 'GET', path }))

function open({ method, path, body }: Route): ClientRequest {
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  const sent = request(`${service.address}${path}`, { method, agent: false, headers })
  // The error of a connection that the test itself cuts.
  sent.on('error', () => {})
  return sent.end(body === undefined ? undefined : JSON.stringify(body))
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000
  while (!isTrue()) {
    ok(performance.now() < deadlineMs, 'It does not come to pass.')
    await turn()
  }
}

/** Measures some rounds, tells what came out, and holds it to the promise with some slack. */
async function measure(t: TestContext, promisedMs: number, round: () => Promise<number>): Promise<void> {
  const took: number[] = []
  for (let number = 0; number < rounds; number += 1) took.push(await round())
  const [median, longest] = [quantile(took, 0.5), Math.max(...took)]
  t.diagnostic(`median ${median.toFixed(1)} ms, longest ${longest.toFixed(1)} ms, promised ${promisedMs} ms`)
  ok(median < promisedMs * slack, `The median is ${median} ms.`)
}

async function headOf(route: Route): Promise<{ readonly response: IncomingMessage; readonly ms: number }> {
  const startedMs = performance.now()
  const sent = open(route)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { response, ms: performance.now() - startedMs }
}

describe('the head of an answer is there soon', () => {
  for (const route of asking(true)) {
    test(`the head of a stream of ${route.path} is sent before its first word is there`, (t) => {
      script = [hold]
      return measure(t, headMsPromised, async () => {
        const { response, ms } = await headOf(route)
        equal(response.statusCode, 200)
        response.destroy()
        await until(() => service.engine.status().running === 0)
        return ms
      })
    })
  }

  for (const route of [...asking(false), counting, ...listing]) {
    test(`the head of an answer of ${route.method} ${route.path} is sent soon`, (t) => {
      script = [word, end]
      return measure(t, headMsPromised, async () => {
        const { response, ms } = await headOf(route)
        equal(response.statusCode, 200)
        await response.toArray()
        return ms
      })
    })
  }
})

describe('there is a sign of life after 10 seconds', () => {
  for (const route of asking(true)) {
    test(`a stream of ${route.path} that waits for its turn shows life after 10 seconds`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      startsAfter = promise
      script = [word, end]
      const head = headOf(route)
      await until(() => service.engine.status().running === 1)
      service.clock.advance(10_000)
      equal((await head).response.statusCode, 200)
      startsAfter = Promise.resolve()
      resolve()
      await (await head).response.toArray()
    })

    test(`a stream of ${route.path} that pauses shows life after 10 seconds`, async () => {
      script = [word, hold]
      const { response } = await headOf(route)
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      await until(() => text.includes('"a"'))
      service.clock.advance(10_000)
      await until(() => /event: ping|: keep-alive/.test(text))
      response.destroy()
      await until(() => service.engine.status().running === 0)
    })
  }
})

describe('the engine hears soon that a client is gone', () => {
  const leave = async (route: Route, isTime: () => boolean): Promise<number> => {
    const sent = open(route)
    await until(isTime)
    const leftMs = performance.now()
    sent.destroy()
    await until(() => service.engine.status().running === 0)
    return performance.now() - leftMs
  }

  for (const [isStream, way] of [
    [true, 'a stream'],
    [false, 'an answer'],
  ] as const) {
    for (const route of asking(isStream)) {
      test(`the engine hears soon that the client of ${way} of ${route.path} left before it began`, async (t) => {
        startsAfter = never
        t.after(() => (startsAfter = Promise.resolve()))
        await measure(t, abortMsPromised, () => leave(route, () => service.engine.status().running === 1))
      })

      test(`the engine hears soon that the client of ${way} of ${route.path} left in its midst`, async (t) => {
        script = [word, hold]
        await measure(t, abortMsPromised, () => {
          const before = begun
          return leave(route, () => begun > before)
        })
      })
    }
  }

  test('the engine hears soon that the client of a count left', async (t) => {
    const { engine } = service
    const prepare = engine.prepare.bind(engine)
    let underWay = 0
    engine.prepare = (request, signal) => {
      underWay += 1
      const tokens = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          underWay -= 1
          reject(new GenerationAborted(zeroUsage))
        })
      })
      return { ...prepare(request, signal), tokens }
    }
    await measure(t, abortMsPromised, async () => {
      const sent = open(counting)
      await until(() => underWay === 1)
      const leftMs = performance.now()
      sent.destroy()
      await until(() => underWay === 0)
      return performance.now() - leftMs
    })
    engine.prepare = prepare
  })

  test('each request whose client left has its row', async () => {
    const rows = await service.db.selectFrom('ledger').select(['outcome']).execute()
    const aborted = rows.filter(({ outcome }) => outcome === 'aborted').length
    deepEqual([aborted > 8 * rounds, rows.every(({ outcome }) => outcome !== 'failed')], [true, true])
  })
})
