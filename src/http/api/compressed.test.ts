import { deepEqual, equal, ok } from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import fastify from 'fastify'
import { sendJson } from './compressed.ts'

async function ask(t: TestContext, text: string, encodings: string | null) {
  const app = fastify()
  t.after(() => app.close())
  app.get('/', (request, reply) => sendJson(text, request, reply))
  return app.inject({ url: '/', headers: encodings === null ? {} : { 'accept-encoding': encodings } })
}

const long = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => index % 7))

test('a long answer is sent in fewer bytes to who can read them', async (t) => {
  const { headers, rawPayload } = await ask(t, long, 'gzip, deflate, br')
  equal(headers['content-encoding'], 'br')
  equal(headers['vary'], 'accept-encoding')
  ok(rawPayload.length < long.length / 10)
  ok(brotliDecompressSync(rawPayload).toString() === long)
})

test('others get a long answer as it is, and are told apart by caches', async (t) => {
  for (const encodings of [null, 'gzip', 'identity']) {
    const { headers, body } = await ask(t, long, encodings)
    deepEqual([headers['content-encoding'], headers['vary']], [undefined, 'accept-encoding'])
    ok(body === long)
  }
})

test('a short answer is sent as it is', async (t) => {
  const { headers, body } = await ask(t, '{"a":1}', 'br')
  deepEqual([headers['content-encoding'], headers['content-type'], body], [undefined, 'application/json', '{"a":1}'])
})
