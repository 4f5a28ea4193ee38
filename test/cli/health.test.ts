// What `odyssey health` tells a container manager of a service that runs, stops, and is not there.

import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { tryCli } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'

let service: Service
before(async () => {
  service = await startService({ environment: { HOST: '0.0.0.0' } })
})
after(() => service.stop())

test('a service that can answer is ready and alive, also where it listens on every address', async () => {
  deepEqual(await tryCli(service, 'health'), { exitCode: 0, stdout: 'ready\n', stderr: '' })
  deepEqual(await tryCli(service, 'health', '--alive'), { exitCode: 0, stdout: 'alive\n', stderr: '' })
})

test('no proxy of the environment is asked for the service of this machine, nor told the key of its operator', async () => {
  const asked: string[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(502).end()
  }).on('connect', ({ url }, socket) => {
    asked.push(url ?? '')
    socket.destroy()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: address, http_proxy: address, NO_PROXY: '', no_proxy: '' }
  try {
    const from = { ...service, environment }
    deepEqual((await tryCli(from, 'health')).exitCode, 0)
    deepEqual((await tryCli(from, 'queue')).exitCode, 0)
    deepEqual(asked, [])
  } finally {
    proxy.close()
  }
})

test('a folder without a service ends with 1 and names the folder', async () => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-health-'))
  try {
    const { exitCode, stdout, stderr } = await tryCli({ home }, 'health')
    deepEqual([exitCode, stdout, stderr], [1, '', `No service runs on ${home}.\n`])
  } finally {
    rmSync(home, { recursive: true })
  }
})

/** A data folder whose service is the one at an address, as far as its file says. */
async function withAnswers(listener: Parameters<typeof createServer>[1], run: (home: string) => Promise<void>) {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-health-'))
  const server: Server = createServer(listener!)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = { pid: process.pid, address, operator: { address, key: 'none' } }
  writeFileSync(join(home, 'service.json'), JSON.stringify(file))
  try {
    await run(home)
  } finally {
    server.closeAllConnections()
    server.close()
    rmSync(home, { recursive: true })
  }
}

test('a part that is down is named, and the service counts as alive all the same', () =>
  withAnswers(
    ({ url }, response) => {
      const isReady = url === '/healthz'
      const models = { 'hal-1.0': 'down', 'clarke-1.0': 'ready' }
      response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ status: 'not ready', models, keys: 'ready', ledger: 'down' }))
    },
    async (home) => {
      const { exitCode, stderr } = await tryCli({ home }, 'health')
      deepEqual([exitCode, stderr], [1, 'The service is not ready; hal-1.0 is down; ledger is down\n'])
      equal((await tryCli({ home }, 'health', '--alive')).exitCode, 0)
    },
  ))

test('a service that accepts connections and says nothing is given up, and counts as hung', () =>
  withAnswers(
    () => {},
    async (home) => {
      const { exitCode, stderr } = await tryCli({ home }, 'health', '--alive')
      equal(exitCode, 1)
      match(stderr, /^The service does not answer: /)
    },
  ))
