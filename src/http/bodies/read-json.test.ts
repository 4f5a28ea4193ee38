import { deepEqual, rejects } from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { bodyBytesMax } from './bodies.ts'
import { BodyBudget } from './body-budget.ts'
import { parseJson } from './decode-body.ts'
import { receiveBody } from './receive-body.ts'

const clock = createManualClock()

function requestOf(body: Readable): IncomingMessage {
  return Object.assign(body, { headers: {} }) as IncomingMessage
}

async function readFrom(body: Readable): Promise<unknown> {
  const hold = new BodyBudget(bodyBytesMax, bodyBytesMax).open('key')
  const receiving = { clock, bytesMax: bodyBytesMax, bytesPerSecondMin: 1, hold, signal: null }
  return parseJson(Buffer.concat(await receiveBody(requestOf(body), receiving)))
}

const read = (text: string) => readFrom(Readable.from([Buffer.from(text)]))

test('half a character is replaced wherever an escape brings one', async () => {
  for (const half of ['\\ud800', '\\uDBFF', '\\uDc00', '\\udfFF']) {
    deepEqual(await read(`{"a${half}":["x${half}y"]}`), { 'a\ufffd': ['x\ufffdy'] }, half)
  }
})

test('whole characters stay as they are, escaped or not', async () => {
  deepEqual(await read('["\\ud83d\\ude00", "😀", "\\u00e9", "\\\\ud800"]'), ['😀', '😀', 'é', '\\ud800'])
})

test('a key named __proto__ stays a key', async () => {
  deepEqual(Object.entries((await read('{"__proto__":{"a":1}}')) as object), [['__proto__', { a: 1 }]])
})

test('a body that breaks off is refused', async () => {
  const body = new Readable({ read() {} })
  const reading = readFrom(body)
  body.push('{"a":')
  setImmediate(() => body.destroy())
  await rejects(reading, { message: 'The body ended early.' })
})
