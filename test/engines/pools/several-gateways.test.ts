// Two whole services on one PostgreSQL, in front of the same replicas.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openPlacementChannel, type PlacementChannel } from '../../../src/db/notices/postgres-notices.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { readNotice } from '../../../src/scheduling/pool/placement-notice.ts'
import { openShared, type Shared } from '../../campaigns/gateways/start-gateways.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn, type StandIn } from '../../harness/engines/stand-in.ts'
import { until, type Service } from '../../harness/start-service.ts'

const inOrder = (one: string, other: string) => one.localeCompare(other)

describe('two gateways of one installation', () => {
  let shared: Shared
  let standIns: StandIn[]
  let gateways: Service[]
  let key: string
  let channel: PlacementChannel
  const heard: string[] = []

  before(async () => {
    shared = await openShared()
    const model = await openPlaceholderModel()
    standIns = await Promise.all([1, 2, 3].map(() => openStandIn({ kind: 'vllm', model })))
    // What is held is worth its time: a replica that happened to be quick would else be chosen for a prompt that it does not hold.
    for (const standIn of standIns) standIn.promptTokenMs = 1
    const replicas = standIns.map(({ address }) => ({ url: address, kind: 'vllm' }))
    const config = {
      pools: { big: { tokenizer: placeholderPath, replicas } },
      models: { 'hal-1.0': { pool: 'big' } },
    }
    ;({ key } = await shared.createKey('client'))
    gateways = await Promise.all([shared.start(undefined, { config }), shared.start(undefined, { config })])
    channel = openPlacementChannel({ db: shared.db, clock: systemClock, url: shared.server.url })
    channel.subscribe((news) => heard.push(news))
  })
  after(async () => {
    await channel.close()
    await shared.stop()
    await Promise.all(standIns.map((standIn) => standIn.close()))
  })

  const ask = (gateway: Service | undefined, content: string) =>
    fetch(`${gateway?.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'hal-1.0', max_tokens: 4, messages: [{ role: 'user', content }] }),
    })
  const textOf = (number: number) => `Story ${number}. ${`Word ${number} of it is said again. `.repeat(30)}`
  const rows = () => shared.db.selectFrom('ledger').select(['routing', 'replica']).orderBy('sequence').execute()
  /** One that was told of while it waited is not told again whole: only where it went. */
  const placedSoFar = () =>
    heard
      .map((news) => readNotice(news) ?? { placed: [], left: [] })
      .reduce((sum, { placed, left }) => sum + placed.length + left.filter(([replica]) => replica >= 0).length, 0)

  it('hear of each other as large a notice as they write', async () => {
    const hasCome = async () => {
      await channel.send(['{"hello":1}'])
      return heard.length > 0
    }
    await until(hasCome, 'Nobody listens.', 60_000)
    const large = JSON.stringify('é'.repeat(3_948))
    await channel.send(['{}', large])
    await until(() => heard.includes(large), 'A large notice did not come.', 60_000)
    heard.length = 0
  })

  /** One that was not measured is believed to be quicker than these are. Several prompts at once leave none of them out. */
  const untilAllAreMeasured = async () => {
    for (let asked = 0; asked < 120;) {
      const contents = Array.from({ length: 6 }, () => textOf(100 + asked++))
      const answers = await Promise.all(contents.map((content) => ask(gateways[0], content)))
      for (const { status } of answers) equal(status, 200)
      await until(async () => (await rows()).length >= asked, 'A row was not written.', 60_000)
      const byReplica = Map.groupBy(await rows(), ({ replica }) => replica)
      if (standIns.every(({ address }) => (byReplica.get(address)?.length ?? 0) >= 2)) return
    }
    throw new Error('Some replica was given next to nothing.')
  }

  it('send a prompt to where the other has sent its beginning', async () => {
    await untilAllAreMeasured()
    const before = (await rows()).length
    for (let number = 0; number < 6; number++) equal((await ask(gateways[0], textOf(number))).status, 200)
    await until(() => placedSoFar() >= before + 6, 'What was placed was not told.', 60_000)
    await until(async () => (await rows()).length >= before + 6, 'Not all rows were written.', 60_000)
    for (let number = 0; number < 6; number++) equal((await ask(gateways[1], textOf(number))).status, 200)
    await until(async () => (await rows()).length >= before + 12, 'Not all rows were written.', 60_000)
    const placed = (await rows()).map(({ routing, replica }) => {
      const { matchedTokens } = JSON.parse(routing ?? '{}') as { matchedTokens: number }
      return { matchedTokens, replica }
    })
    const [first, second] = [placed.slice(before, before + 6), placed.slice(before + 6)]
    ok(
      first.every(({ matchedTokens }) => matchedTokens < 128),
      JSON.stringify(first),
    )
    ok(
      second.every(({ matchedTokens }) => matchedTokens > 128),
      JSON.stringify(second),
    )
    const replicasOf = (some: typeof placed) => some.map(({ replica }) => replica ?? '').toSorted(inOrder)
    deepEqual(replicasOf(second), replicasOf(first))
  })
})
