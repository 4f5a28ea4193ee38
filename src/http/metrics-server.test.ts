import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from '../telemetry/metrics.ts'
import { startMetricsServer } from './metrics-server.ts'

test('the numbers are at one path of a port of their own', async () => {
  const metrics = createMetrics({ version: '1', readEngines: () => [] })
  const server = await startMetricsServer(metrics, { host: '127.0.0.1', port: 0 })
  try {
    const answer = await fetch(server.address)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
    assert.match(await answer.text(), /^odyssey_build_info\{version="1"\} 1$/m)
    assert.equal((await fetch(new URL('/', server.address))).status, 404)
    assert.equal((await fetch(server.address, { method: 'POST' })).status, 404)
  } finally {
    await server.close()
  }
})

test('a port that is taken is told to whoever starts the service', async () => {
  const metrics = createMetrics({ version: '1', readEngines: () => [] })
  const server = await startMetricsServer(metrics, { host: '127.0.0.1', port: 0 })
  const port = Number(new URL(server.address).port)
  await assert.rejects(startMetricsServer(metrics, { host: '127.0.0.1', port }), { code: 'EADDRINUSE' })
  await server.close()
})
