// Fetching weights over connections that are cut, stall and come back. All of it runs in this
// process, with the network's pauses taken out; test/cli/swap.test.ts runs the command.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { createRandom } from '../campaigns/random.ts'
import { madeGguf, madePart } from '../harness/engines/made-gguf.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { Puller } from '../harness/engines/puller.ts'
import { until } from '../harness/start-service.ts'
import { linkedHeaders, sendFile, sha256Of, startWeightsHub } from '../harness/engines/weights-hub.ts'

const weights: Buffer = readFileSync(placeholderPath)
let puller: Puller
beforeEach(() => {
  puller = new Puller()
})
afterEach(() => puller.close())

test('twenty connections cut at random places cost nothing but the connections', async (context) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  context.diagnostic(`seed ${seed}`)
  const random = createRandom(seed)
  const step = Math.floor(weights.length / 21)
  const hub = await puller.startFileServer((get) => ({
    content: weights,
    etag: '"one"',
    headers: linkedHeaders(weights),
    ...(get < 20 && { cutAfter: random.integer(1, step) }),
  }))
  const { sha256, source } = await puller.pull({ hub })
  puller.checkFetched(weights)
  deepEqual([sha256, source], [sha256Of(weights), 'owner/repo/file.gguf'])
  equal(hub.gets().length, 21)
  const starts = hub.gets().map(({ range }) => Number(/\d+/.exec(range ?? '0')?.[0]))
  ok(
    starts.every((start, index) => index === 0 || start >= (starts[index - 1] ?? 0)),
    'nothing is fetched twice',
  )
  ok((starts.at(-1) ?? 0) > 0)
})

test('a pull that was stopped resumes where it was', async () => {
  const stopped = new AbortController()
  const hub = await puller.startHub((request, response) => {
    if (request.method === 'HEAD' || request.headers.range !== undefined) {
      return sendFile(request, response, { content: weights, etag: '"one"' })
    }
    response.writeHead(200, { 'content-length': weights.length, etag: '"one"' })
    return response.write(weights.subarray(0, 500_000))
  })
  let received = 0
  const progress = { begin: () => {}, say: () => {}, end: () => {}, report: (bytes: number) => (received = bytes) }
  const first = puller.pull({ hub, changes: { signal: stopped.signal, progress } })
  void until(() => received === 500_000, 'Nothing comes.').then(() => stopped.abort())
  await rejects(first)
  equal(readFileSync(`${puller.path}.part`).length, 500_000)
  await puller.pull({ hub })
  deepEqual([hub.gets()[1]?.range, hub.gets()[1]?.ifRange], ['bytes=500000-', '"one"'])
  puller.checkFetched(weights)
})

test('a partial file of another content is begun again', async () => {
  const other = madeGguf()
  mkdirSync(dirname(puller.path), { recursive: true })
  writeFileSync(`${puller.path}.part`, weights.subarray(0, 100))
  const note = { source: 'owner/repo/file.gguf', tag: '"old"', ifRange: '"old"', totalBytes: 5_000, syncedBytes: 100 }
  for (const text of [JSON.stringify(note), JSON.stringify({ ...note, source: 'x/y/z.gguf' }), '{', 'null']) {
    writeFileSync(`${puller.path}.part.json`, text)
    await puller.pull({ hub: await puller.startFileServer(() => ({ content: other, etag: '"new"' })) })
    puller.checkFetched(other)
  }
})

test('a file that is replaced at its source while it is fetched is begun again', async () => {
  const other = madeGguf({}, 50_000)
  const hub = await puller.startFileServer((get) =>
    get === 0 ? { content: weights, etag: '"one"', cutAfter: 300_000 } : { content: other, etag: '"two"' },
  )
  await puller.pull({ hub })
  puller.checkFetched(other)
})

test('a server that takes no notice of what changed is caught by the tag of its answer', async () => {
  const other = madeGguf({}, 200_000)
  const hub = await puller.startHub((request, response) => {
    const isFirst = hub.gets().length <= 1
    const sending = isFirst ? { content: weights, cutAfter: 300_000 } : { content: other }
    delete request.headers['if-range']
    sendFile(request, response, { ...sending, headers: { etag: isFirst ? '"one"' : '"two"' } })
  })
  await puller.pull({ hub })
  puller.checkFetched(other)
})

test('the hash that counts is the one the hub gives with the content', async () => {
  const other = madeGguf()
  let asked = 0
  const hub = await puller.startHub((request, response) => {
    const content = asked++ === 0 ? weights : other
    sendFile(request, response, { content, headers: linkedHeaders(content) })
  })
  equal((await puller.pull({ hub })).sha256, sha256Of(other))
})

test('a file from a plain address is fetched, and that nothing vouches for its hash is said', async () => {
  const hub = await puller.startHub((request, response) =>
    request.method === 'HEAD'
      ? response.writeHead(405).end()
      : sendFile(request, response, { content: weights, etag: `"${'b'.repeat(64)}"` }),
  )
  const elsewhere = await puller.startFileServer(() => ({ content: weights }))
  const address = `${hub.address}/some/where/file.gguf`
  const chosen = await puller.pull({ hub: elsewhere, source: `${address}?key=secret` })
  equal(chosen.source, address)
  equal(chosen.weights, join(puller.folder, new URL(address).host.replace(':', '_'), 'some/where/file.gguf'))
  ok(puller.said.some((line) => line.includes('nothing to check it against') && line.includes(sha256Of(weights))))
})

test('a file that is there and right is not fetched again', async () => {
  const hub = await puller.startFileServer(() => ({ content: weights, headers: linkedHeaders(weights) }))
  await puller.pull({ hub })
  await puller.pull({ hub })
  equal(hub.gets().length, 1)
})

test('a server that answers 429 or 503 is asked again', async () => {
  const hub = await puller.startHub((request, response) =>
    request.method === 'GET' && hub.gets().length < 3
      ? response.writeHead(hub.gets().length === 1 ? 503 : 429, { 'retry-after': '0' }).end()
      : sendFile(request, response, { content: weights }),
  )
  await puller.pull({ hub })
  puller.checkFetched(weights)
})

test('a server that stalls is given up on, and one that wakes up is not', async () => {
  const retryPolicy = { idleMs: 800, triesMax: 2, pauseMs: () => 0 }
  const hung = await puller.startHub((request, response) => {
    if (request.method === 'HEAD') return sendFile(request, response, { content: weights })
    response.writeHead(200, { 'content-length': weights.length })
    return response.write(weights.subarray(0, 1_000))
  })
  const { kind, message } = await puller.faultOf({ hub: hung, changes: { retryPolicy } })
  equal(kind, 'no-progress')
  match(message, /Nothing has come for 0.8 s/)
  const mute = await puller.startHub(() => {})
  match((await puller.faultOf({ hub: mute, changes: { retryPolicy } })).message, /has not answered for 0.8 s/)
  const waking = await puller.startHub((request, response) => {
    if (hub().gets().length !== 1) sendFile(request, response, { content: weights })
  })
  const hub = () => waking
  await puller.pull({ hub: waking, changes: { retryPolicy } })
  puller.checkFetched(weights)
})

test('a second pull of the same file is told of the first', async () => {
  const hub = await puller.startHub(async (request, response) => {
    await rejects(puller.pull({ hub }), /Another command is fetching owner\/repo\/file\.gguf/)
    sendFile(request, response, { content: weights })
  })
  await puller.pull({ hub })
  puller.checkFetched(weights)
})

test('a machine that is offline is told so in one line, at once', async () => {
  const hub = await startWeightsHub(() => {})
  await hub.close()
  const { kind, message } = await puller.faultOf({ hub })
  equal(kind, 'unreachable')
  const { host } = new URL(hub.address)
  equal(
    message,
    `${host} cannot be reached (ECONNREFUSED). Is this machine offline? Without a network, copy a GGUF file onto it ` +
      'and run: odyssey models use hal-1.0 FILE',
  )
})

test('a server that goes away in the midst of it is waited for, and what has arrived is kept', async () => {
  const hub = await puller.startHub((request, response) => {
    if (request.method === 'HEAD') return sendFile(request, response, { content: weights })
    sendFile(request, response, { content: weights, cutAfter: 1_000 })
    return response.once('close', () => void hub.close().catch(() => {}))
  })
  const { kind, message } = await puller.faultOf({ hub })
  equal(kind, 'no-progress')
  match(message, /cannot be reached .* What has arrived is kept/)
})

test('weights in parts are fetched whole, and of one commit', async () => {
  const commit = 'c'.repeat(40)
  const parts = [0, 1].map((position) => madePart(position, 2))
  const hub = await puller.startHub((request, response) => {
    const content = parts[Number(/-0000(\d)-of/.exec(request.url ?? '')?.[1]) - 1]
    if (content === undefined) return response.writeHead(404).end()
    return sendFile(request, response, { content, headers: { ...linkedHeaders(content), 'x-repo-commit': commit } })
  })
  const chosen = await puller.pull({ hub, source: 'owner/repo@dev/sub/big-00002-of-00002.gguf' })
  equal(chosen.weights, join(puller.folder, 'owner/repo@dev/sub/big-00001-of-00002.gguf'))
  deepEqual(
    hub.requests.map(({ method, path: asked }) => `${method} ${asked.replace('/owner/repo/resolve', '')}`),
    [
      'HEAD /dev/sub/big-00001-of-00002.gguf',
      `HEAD /${commit}/sub/big-00002-of-00002.gguf`,
      'GET /dev/sub/big-00001-of-00002.gguf',
      `GET /${commit}/sub/big-00002-of-00002.gguf`,
    ],
  )
})

test('weights in parts are refused where the disk has no room for all of them', async () => {
  const parts = [0, 1].map((position) => madePart(position, 2))
  const bytes = parts.reduce((sum, { length }) => sum + length, 0)
  const hub = await puller.startHub((request, response) =>
    sendFile(request, response, { content: parts[Number(/-0000(\d)-of/.exec(request.url ?? '')?.[1]) - 1]! }),
  )
  const source = 'owner/repo/big-00001-of-00002.gguf'
  const fault = await puller.faultOf({ hub, source, changes: { freeBytes: async () => bytes - 1 } })
  ok(fault.kind === 'no-space' && fault.neededBytes === bytes)
  equal(hub.gets().length, 0)
})
