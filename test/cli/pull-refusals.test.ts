// What a pull does not put up with: damage, lies, refusals, secrets that would go astray.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { madeGguf } from '../harness/engines/made-gguf.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { Puller } from '../harness/engines/puller.ts'
import { linkedHeaders, sendFile, sha256Of, type Answer } from '../harness/engines/weights-hub.ts'

const weights: Buffer = readFileSync(placeholderPath)
let puller: Puller
beforeEach(() => {
  puller = new Puller()
})
afterEach(() => puller.close())

test('a flipped byte is refused, and what was there before stays', async () => {
  const damaged = Buffer.from(weights)
  damaged[700_000] = (damaged[700_000] ?? 0) ^ 1
  mkdirSync(dirname(puller.path), { recursive: true })
  writeFileSync(puller.path, 'what was there')
  const hub = await puller.startFileServer(() => ({ content: damaged, headers: linkedHeaders(weights) }))
  await rejects(puller.pull({ hub }), (error: Error) => {
    match(error.message, /its sha256 is/)
    ok(error.message.includes(sha256Of(weights)) && error.message.includes(sha256Of(damaged)))
    return true
  })
  equal(readFileSync(puller.path, 'utf8'), 'what was there')
  equal(puller.isPartLeft(), false)
})

test('a hash that the operator gives is checked, before the fetching where the hub gives one too', async () => {
  const plain = await puller.startFileServer(() => ({ content: weights }))
  await rejects(puller.pull({ hub: plain, sha256: 'a'.repeat(64) }), /as you said/)
  equal((await puller.pull({ hub: plain, sha256: sha256Of(weights) })).sha256, sha256Of(weights))
  const hub = await puller.startFileServer(() => ({ content: weights, headers: linkedHeaders(weights) }))
  await rejects(puller.pull({ hub, sha256: 'a'.repeat(64) }), /Nothing was fetched/)
  equal(hub.gets().length, 0)
})

test('a cut answer of a server without ranges is fetched again from the beginning', async () => {
  const hub = await puller.startFileServer((get) => ({
    content: weights,
    etag: '"one"',
    ignoresRanges: true,
    ...(get < 2 && { cutAfter: 100_000 * (get + 1) }),
  }))
  await puller.pull({ hub })
  puller.checkFetched(weights)
})

test('a server without ranges that cuts every answer at the same place is given up', async () => {
  const hub = await puller.startFileServer(() => ({ content: weights, ignoresRanges: true, cutAfter: 100_000 }))
  const { kind, message } = await puller.faultOf({ hub })
  equal(kind, 'no-progress')
  match(message, /the same command goes on/)
})

describe('sizes that are not true are found out', () => {
  const announce = (bytes: number): Record<string, string> => ({ 'content-length': String(bytes) })
  const longer = weights.length + 1_000
  const lies: Record<string, { readonly answer: Answer; readonly reason: RegExp }> = {
    'an answer that is shorter than announced': {
      answer: (request, response) => {
        if (request.headers.range !== undefined) return sendFile(request, response, { content: weights })
        response.writeHead(200, announce(longer))
        if (request.method === 'HEAD') return response.end()
        return response.write(weights, () => response.destroy())
      },
      reason: new RegExp(`no more than ${weights.length} bytes`),
    },
    'a length that cuts the file off': {
      answer: (request, response) => sendFile(request, response, { content: weights.subarray(0, 600_000) }),
      reason: /It is cut off: of at least \d+ bytes it has 600000/,
    },
    'two sizes': {
      answer: (request, response) =>
        sendFile(request, response, { content: weights, headers: { 'x-linked-size': String(longer) } }),
      reason: new RegExp(`announced with ${longer} bytes and sent with ${weights.length}`),
    },
    'more than announced': {
      answer: (_request, response) => {
        response.writeHead(200, { 'x-linked-size': '1000' })
        response.end(weights)
      },
      reason: /more than the 1000 bytes/,
    },
    'a range that is not the one asked for': {
      answer: (request, response) => {
        if (request.headers.range === undefined)
          return sendFile(request, response, { content: weights, cutAfter: 1_000 })
        response.writeHead(206, { 'content-range': `bytes 5-99/${weights.length}`, 'content-length': 95 })
        return response.end(weights.subarray(5, 100))
      },
      reason: /replaced at its source/,
    },
  }
  for (const [name, { answer, reason }] of Object.entries(lies)) {
    test(name, async () => {
      await rejects(puller.pull({ hub: await puller.startHub(answer) }), reason)
      equal(existsSync(puller.path), false)
    })
  }
})

describe('what is no weights is refused and deleted', () => {
  const contents: Record<string, readonly [content: Buffer, reason: RegExp]> = {
    'a web page': [Buffer.from('<!DOCTYPE html><html><body>Sign in</body></html>'), /web page/],
    'a pointer of Git LFS': [Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:00\n'), /Git LFS/],
    'something else': [Buffer.from('PK\u0003\u0004'), /not a GGUF file/],
    'nothing at all': [Buffer.alloc(0), /not a GGUF file/],
    'a projector of images': [madeGguf({ 'general.type': { type: 'string', value: 'mmproj' } }), /no language model/],
  }
  for (const [name, [content, reason]] of Object.entries(contents)) {
    test(name, async () => {
      await rejects(puller.pull({ hub: await puller.startFileServer(() => ({ content })) }), reason)
      equal(puller.isPartLeft(), false)
    })
  }
})

test('401, 403 and 404 tell the operator what to do, and are not asked again', async () => {
  for (const [status, words] of [
    [401, /HF_TOKEN/],
    [403, /HF_TOKEN/],
    [404, /there is no such file/],
  ] as const) {
    const hub = await puller.startHub((_request, response) => response.writeHead(status).end())
    const fault = await puller.faultOf({ hub })
    equal(fault.kind, 'status')
    match(fault.message, words)
    equal(hub.gets().length, 1)
  }
})

test('the token of the hub is not sent to a server that the hub redirects to', async () => {
  const store = await puller.startFileServer(() => ({ content: weights, etag: '"store"' }))
  const hub = await puller.startHub((request, response) => {
    const location = request.url?.startsWith('/owner') === true ? '/moved/file.gguf' : `${store.address}/signed?a=b`
    response.writeHead(302, { location, ...linkedHeaders(weights) }).end()
  })
  await puller.pull({ hub, token: 'hf_secret' })
  puller.checkFetched(weights)
  ok(hub.requests.every(({ authorization }) => authorization === 'Bearer hf_secret'))
  deepEqual(
    store.requests.map(({ method, authorization }) => [method, authorization]),
    [['GET', null]],
  )
  const direct = await puller.pull({ hub, token: 'hf_secret', source: `${store.address}/direct.gguf` })
  equal(direct.source, `${store.address}/direct.gguf`)
  ok(store.requests.every(({ authorization }) => authorization === null))
})

test('a chain of redirects without an end is given up', async () => {
  const hub = await puller.startHub((request, response) =>
    response.writeHead(302, { location: request.url ?? '/' }).end(),
  )
  equal((await puller.faultOf({ hub })).kind, 'refused')
  const away = await puller.startHub((_request, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  )
  match((await puller.faultOf({ hub: away })).message, /not safe/)
})

test('a disk without the room is told of before anything is fetched, with the exact numbers', async () => {
  const hub = await puller.startFileServer(() => ({ content: weights }))
  const changes = { freeBytes: async () => 1_000_000, spareBytes: 500_000 }
  const { kind, message } = await puller.faultOf({ hub, changes })
  equal(kind, 'no-space')
  const needed = (weights.length + 500_000).toLocaleString('en-US')
  match(message, new RegExp(`${needed} bytes \\(.*\\) are needed.* 1,000,000 bytes \\(1\\.00 MB\\) are free`))
  ok(!existsSync(`${puller.path}.part`) || readFileSync(`${puller.path}.part`).length === 0)
  await puller.pull({ hub })
  puller.checkFetched(weights)
})
