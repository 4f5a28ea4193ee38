import '../harness/isolated-environment.ts'
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Listening } from '../conformance/clients/client.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { startWeatherService } from '../conformance/weather-model.ts'
import { readRecordings, type Recording } from './recording.ts'
import { replay, type Replayed } from './replay.ts'

const own = readRecordings(join(import.meta.dirname, '../fixtures/recordings'))

/** What real clients sent, recorded outside the repository. */
const folder = join(import.meta.dirname, '../../../shared/clients')
const skip = existsSync(folder) ? false : `The recorded requests of real clients are not here: there is no ${folder}.`
const recorded = () => readRecordings(folder)

/** The placeholder weights compute a long prompt slowly, and nothing is asked of them that a short one does not ask. */
const bodyLengthMax = 8_000

let service: Service

before(async () => {
  service = await startService()
})
after(async () => {
  equal(await service.stop(), 0)
})

async function replayAll(recordings: readonly Recording[], target: Listening): Promise<Replayed[]> {
  ok(recordings.length > 0)
  const rows: Replayed[] = []
  for await (const row of replay(recordings, target)) rows.push(row)
  return rows
}

function faultsOf(rows: readonly Replayed[]): string[] {
  return rows.flatMap(({ file, fault }) => (fault === null ? [] : [`${file}: ${fault}`]))
}

test('requests of our own are answered as their clients need it', async () => {
  deepEqual(faultsOf(await replayAll(own, service)), [])
})

test('recorded requests of real clients are answered by the engine itself', { skip }, async (t) => {
  const short = recorded().filter(({ body }) => JSON.stringify(body).length <= bodyLengthMax)
  deepEqual(faultsOf(await replayAll(short, service)), [])
  t.diagnostic(`${short.length} of ${recorded().length} recordings are short enough for the placeholder weights`)
})

test('recorded requests of any length are taken and answered', { skip }, async (t) => {
  const scripted = await startWeatherService()
  // A scripted engine has no log-probabilities to report; what asks for them is short.
  const rows = await replayAll(
    recorded().filter(({ body }) => body?.['logprobs'] !== true),
    scripted,
  )
  await scripted.close()
  deepEqual(faultsOf(rows), [])
  t.diagnostic(`${rows.length} recordings`)
})

test('what is wrong is found', async () => {
  const [first] = own
  const body = (changes: Record<string, unknown>) => JSON.stringify({ id: 'chatcmpl-1', ...changes })
  const answers: readonly (readonly [status: number, text: string, fault: RegExp])[] = [
    [500, '{}', /^the status; \{\}/],
    [200, body({}), /these keys and no others/],
    [200, 'data: [DONE]\n\n', /Unexpected token/],
  ]
  for (const [status, text, fault] of answers) {
    const server = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1' }).end(text)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const [row] = await replayAll([first!], { address, key: 'sk' })
    server.close()
    equal(row?.verdict, 'wrong')
    match(row.fault ?? '', fault)
  }
  const [gone] = await replayAll([first!], { address: 'http://127.0.0.1:1', key: 'sk' })
  deepEqual([gone?.verdict, gone?.status], ['wrong', null])
})
