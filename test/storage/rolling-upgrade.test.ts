// Two gateways of an earlier version on one PostgreSQL are replaced by this one, one after the other, while clients ask
// without a pause. A balancer in front is told before a gateway stops, as the page on upgrades says.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startPostgresServer } from '../../scripts/postgres/start-server.ts'
import { openPostgres } from '../../src/db/open-postgres.ts'
import { extractVersion, isOutOfReach } from '../harness/earlier-version.ts'
import { runCli } from '../harness/run-cli.ts'
import { startService, type Service } from '../harness/start-service.ts'
import { productProgram } from '../harness/as-launched.ts'

/** The version before containers, with 27 migrations. */
const earlier = '946b701'
const clients = 4
/** Answers between two steps of the upgrade. */
const answersBetween = 40

const folder = mkdtempSync(join(tmpdir(), 'odyssey-rolling-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test(
  'two gateways are replaced by a newer version in turn: no request fails, and each has its row',
  { skip: isOutOfReach(earlier), timeout: 600_000 },
  async () => {
    const server = await startPostgresServer()
    const environment = { DATABASE_URL: server.url }
    const program = extractVersion(earlier, folder)
    const gateways: Service[] = []
    try {
      gateways.push(await startService({ program, environment }))
      gateways.push(await startService({ program, environment, joins: gateways[0]! }))
      const load = startLoad(gateways)
      await load.answersMore(answersBetween)
      await runCli({ home: gateways[1]!.home, environment }, 'migrate')
      await load.answersMore(answersBetween)
      for (const index of [0, 1]) {
        await load.takeOut(index)
        equal(await gateways[index]!.stop(), 0)
        gateways[index] = await gateways[index]!.restart(productProgram)
        load.takeIn(index)
        await load.answersMore(answersBetween)
      }
      const { statuses, requests } = await load.end()
      deepEqual([...statuses.keys()], [200], JSON.stringify([...statuses]))
      await checkRows(server.url, requests)
      for (const check of ['audit', 'bill']) await runCli({ home: gateways[0]!.home, environment }, check, 'verify')
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.stop('SIGKILL')))
      await server.stop()
    }
  },
)

/** Output tokens by the id of the request. */
type Requests = ReadonlyMap<string, number>

/** Clients that ask one thing after the other, by turns of whichever gateway a balancer has. */
function startLoad(gateways: readonly Service[]) {
  const key = gateways[0]!.key
  const taken = new Set([0, 1])
  const running = [0, 0]
  const statuses = new Map<number, number>()
  const requests = new Map<string, number>()
  let answers = 0
  let isOver = false

  const ask = async (client: number) => {
    for (let turn = client; !isOver; turn++) {
      const open = [...taken]
      const index = open[turn % open.length] ?? 0
      running[index]! += 1
      const body = {
        model: 'tycho-1.0',
        max_tokens: 8,
        messages: [{ role: 'user', content: `Say ${client} ${turn}.` }],
      }
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const url = `${gateways[index]!.address}/v1/messages`
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      const answer = (await response.json()) as { usage?: { output_tokens: number } }
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      requests.set(response.headers.get('request-id') ?? '', answer.usage?.output_tokens ?? -1)
      running[index]! -= 1
      answers += 1
    }
  }
  const asking = Promise.all(Array.from({ length: clients }, (_, client) => ask(client)))
  // A client that fails is found at the end; until then nobody waits for it.
  asking.catch(() => {})
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await Promise.race([asking, new Promise((resolve) => setTimeout(resolve, 10))])
  }
  return {
    async answersMore(count: number): Promise<void> {
      const from = answers
      await until(() => answers - from >= count)
    },
    async takeOut(index: number): Promise<void> {
      taken.delete(index)
      await until(() => running[index] === 0)
    },
    takeIn: (index: number) => void taken.add(index),
    async end(): Promise<{ statuses: ReadonlyMap<number, number>; requests: Requests }> {
      isOver = true
      await asking
      return { statuses, requests }
    },
  }
}

/** Each request has one row, with the tokens that its client was told. */
async function checkRows(url: string, requests: Requests): Promise<void> {
  const db = await openPostgres(url)
  try {
    const rows = await db.selectFrom('ledger').select(['request_id', 'output', 'outcome']).execute()
    const finished = rows.filter(({ outcome }) => outcome === 'finished')
    ok(requests.size >= 4 * answersBetween)
    equal(finished.length, requests.size)
    deepEqual(new Map(finished.map(({ request_id: id, output }) => [id, output])), requests)
  } finally {
    await db.destroy()
  }
}
