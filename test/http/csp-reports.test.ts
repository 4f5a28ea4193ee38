// What browsers report of the content policy: each is a line of the log, few are taken, and none is long.

import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Log } from '../../src/telemetry/log.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

let service: FakeService
let lines: Record<string, unknown>[] = []
beforeEach(async () => {
  lines = []
  const log = createLog('silent')
  const warn = (fields: Record<string, unknown>, said: string) => void lines.push({ ...fields, said })
  service = await startFakeService(
    {},
    {},
    { log: Object.assign(Object.create(log) as Log, { warn }), trustedProxies: ['127.0.0.1'] },
  )
})
afterEach(() => service.close())

async function send(report: unknown, from = '203.0.113.1'): Promise<number> {
  const response = await fetch(`${service.address}/api/v1/csp-reports`, {
    method: 'POST',
    headers: { 'content-type': 'application/csp-report', 'x-forwarded-for': from },
    body: typeof report === 'string' ? report : JSON.stringify(report),
  })
  await response.arrayBuffer()
  return response.status
}

const old = {
  'csp-report': {
    'document-uri': 'https://ody.example/invite?x=1#secret',
    'violated-directive': 'script-src-elem',
    'blocked-uri': 'https://evil.example/a.js?token=1',
    'line-number': 3,
  },
}

test('a report is a line of the log, in the form of either kind of browser, without what may be a secret', async () => {
  equal(await send(old), 204)
  const body = {
    documentURL: 'https://ody.example/o/org_1/keys?q=laptop',
    effectiveDirective: 'require-trusted-types-for',
    blockedURL: 'trusted-types-sink',
    sourceFile: `https://ody.example/${'a'.repeat(1_000)}`,
    lineNumber: 1,
    sample: 'Element innerHTML|typed by somebody',
  }
  equal(await send([{ type: 'csp-violation', age: 1, url: 'https://ody.example/', body }]), 204)
  deepEqual(
    lines.map(({ request_id: _, ...rest }) => rest),
    [
      {
        page: 'https://ody.example/invite',
        directive: 'script-src-elem',
        blocked: 'https://evil.example/a.js',
        source: null,
        line: 3,
        said: 'the content policy stopped something',
      },
      {
        page: 'https://ody.example/o/org_1/keys',
        directive: 'require-trusted-types-for',
        blocked: 'trusted-types-sink',
        source: `https://ody.example/${'a'.repeat(180)}`,
        line: 1,
        said: 'the content policy stopped something',
      },
    ],
  )
})

test('what is no report, or too long for one, is refused and not logged', async () => {
  equal(await send({ hello: 1 }), 400)
  equal(await send('{'), 400)
  equal(await send([]), 400)
  equal(await send({ ...old, padding: 'x'.repeat(9_000) }), 413)
  deepEqual(lines, [])
})

test('of one network ten a minute are taken, and of all a hundred', async () => {
  for (let index = 0; index < 10; index += 1) equal(await send(old), 204)
  equal(await send(old), 429)
  for (let other = 0; other < 90; other += 1) equal(await send(old, `198.51.${other}.1`), 204)
  equal(await send(old, '192.0.2.1'), 429)
  equal(lines.length, 100)
  service.clock.advance(60_000)
  equal(await send(old), 204)
})
