// A llama-server leaves tokens out of its stream that are parts of a character, and tells their text with the last of them. Which
// they were can only be guessed by their bytes.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { collect } from '../../../src/core/collect.ts'
import { runAlone } from '../../../src/core/engine.ts'
import type { PoolEngine } from '../../../src/models/fleet/pools/pool-engine.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn, type StandIn } from '../../harness/engines/stand-in.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

const outputTokens = 20

type ServerRecord = {
  readonly content: string
  readonly tokens: readonly number[]
  readonly tokens_predicted: number
}

describe('a llama-server whose left out tokens are not those that their bytes are believed to be', () => {
  let member: StandIn
  let server: Server
  let engine: PoolEngine

  before(async () => {
    member = await openStandIn({ kind: 'llama-server', model: await openPlaceholderModel() })
    server = createServer((request, response) => {
      void answer(request).then(({ status, type, body }) =>
        response.writeHead(status, { 'content-type': type }).end(body),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    engine = await openPool([{ address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }])
  })
  after(async () => {
    await engine.close()
    server.close()
    await member.close()
  })

  /** What the stand-in answers; of an answer of many tokens the second and third are told as one of three would be. */
  async function answer(request: IncomingMessage) {
    const body = Buffer.concat(await Array.fromAsync(request)).toString()
    const asked = body === '' ? {} : (JSON.parse(body) as { readonly n_predict?: number })
    const isLong = asked.n_predict !== undefined && asked.n_predict >= outputTokens
    const sent = isLong ? JSON.stringify({ ...asked, n_predict: asked.n_predict - 1 }) : body
    const { method = 'GET', url = '/' } = request
    const response = await fetch(new URL(url, member.address), { method, ...(sent !== '' && { body: sent }) })
    const text = await response.text()
    const type = response.headers.get('content-type') ?? 'application/json'
    return { status: response.status, type, body: isLong ? withOneLeftOut(text) : text }
  }

  function withOneLeftOut(stream: string): string {
    const records = stream.split('\n\n').filter((record) => record !== '')
    const read = (at: number) => JSON.parse((records[at] ?? '').slice('data: '.length)) as ServerRecord
    // The first says how far the prompt is computed.
    const [left, last] = [read(2), read(3)]
    const rest = records.slice(4).map((_, at) => read(at + 4))
    const told = [{ ...last, content: left.content + last.content }, ...rest].map((record) => ({
      ...record,
      tokens_predicted: record.tokens_predicted + 1,
    }))
    const written = told.map((record) => `data: ${JSON.stringify(record)}`)
    return [...records.slice(0, 2), ...written].map((record) => `${record}\n\n`).join('')
  }

  it('is not believed to lie when its answer ends for its limit', async () => {
    const request = engineRequest({
      sampling: withSeed(1, 0),
      outputTokensMin: outputTokens,
      outputTokensMax: outputTokens,
    })
    const signal = new AbortController().signal
    const { blocks, usage, reason } = await collect(runAlone(engine, request, signal))
    deepEqual([reason.kind, usage.output], ['length', outputTokens])
    ok(blocks.length > 0)
    equal(engine.replicas[0]?.health.state, 'up')
  })

  it('has as long an answer as it may be under a grammar too', async () => {
    const schema = { type: 'array', items: { type: 'integer' }, minItems: 50 }
    const output = { kind: 'json', schema, schemaPath: [], isStrict: true } as const
    const request = engineRequest({ sampling: withSeed(1, 0), output, outputTokensMax: outputTokens })
    const { blocks, usage, reason } = await collect(runAlone(engine, request, new AbortController().signal))
    deepEqual([reason.kind, usage.output], ['length', outputTokens])
    ok(blocks.length > 0)
    equal(engine.replicas[0]?.health.state, 'up')
  })
})
