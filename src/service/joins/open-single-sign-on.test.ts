import { deepEqual } from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { createTextResolver } from './open-single-sign-on.ts'

/** What the server of names says of a name: texts, each in its parts, or the number of a fault; nothing of others. */
const answers: Readonly<Record<string, readonly (readonly string[])[] | number>> = {
  'here.example': [['odyssey-', 'domain=x'], ['v=spf1 -all']],
  'gone.example': 3,
  'failing.example': 2,
  'refused.example': 5,
  'empty.example': [],
}

let server: Socket
before(async () => {
  server = createSocket('udp4', (query, { port, address }) => {
    const answer = answers[nameIn(query)]
    if (answer !== undefined) server.send(write(query, answer), port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
})
after(() => server.close())

function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; query[at] !== 0; at += (query[at] ?? 0) + 1) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)))
  }
  return labels.join('.')
}

/** The answer as it goes over the wire (RFC 1035); the question is repeated, without what extends it. */
function write(query: Buffer, answer: readonly (readonly string[])[] | number): Buffer {
  const questionEnd = 12 + nameIn(query).length + 2 + 4
  const texts = typeof answer === 'number' ? [] : answer
  const head = Buffer.from(query.subarray(0, questionEnd))
  head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2)
  head.writeUInt16BE(texts.length, 6)
  head.writeUInt16BE(0, 10)
  const records = texts.map((parts) => {
    const data = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])))
    return Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length]), data])
  })
  return Buffer.concat([head, ...records])
}

for (const [what, name, texts] of [
  ['a text in parts is one text', 'here.example', ['odyssey-domain=x', 'v=spf1 -all']],
  ['a name that is not there has no texts', 'gone.example', []],
  ['a name without texts has none', 'empty.example', []],
  ['a server that fails has said nothing', 'failing.example', null],
  ['a server that refuses has said nothing', 'refused.example', null],
  ['a server that is silent has said nothing', 'silent.example', null],
] as const) {
  test(what, async () => {
    const resolve = createTextResolver({ servers: [`127.0.0.1:${server.address().port}`], timeoutMs: 200 })
    deepEqual(await resolve(name), texts)
  })
}
