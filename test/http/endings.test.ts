// What ends a request before its answer is out: what its row, the log and the metrics say of it, and what it costs.

import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { createApiKey, revokeApiKey, type CreatedApiKey } from '../../src/accounts/api-keys.ts'
import { setOrganizationDisabled } from '../../src/accounts/organizations.ts'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { paths } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { microPrices } from '../harness/micro-prices.ts'
import { until } from '../harness/start-service.ts'
import { Transcript } from '../harness/http/transcript.ts'

const operator = { kind: 'operator' } as const
let answersBegun = 0
/** Says two words, and never ends. */
const script: readonly FakeStep[] = [
  { kind: 'block', block: { kind: 'text' }, texts: ['one ', 'two '] },
  {
    kind: 'wait-for',
    // Looked at when both words are said.
    get event() {
      answersBegun += 1
      return Promise.withResolvers<void>().promise
    },
  },
]

let service: FakeService
let key: CreatedApiKey
const lines: Record<string, unknown>[] = []
before(async () => {
  const log = Object.assign(createLog('silent'), { info: (fields: Record<string, unknown>) => lines.push(fields) })
  service = await startFakeService({ script: () => script }, undefined, { prices: microPrices, log })
  key = await createApiKey(service.accounts, operator, { name: 'tested', ...service.home })
})
after(() => service.close())
afterEach(() => (lines.length = 0))

type Ending = {
  readonly name: string
  readonly reason: string
  readonly outcome: 'aborted' | 'failed'
  /** The statuses of a whole answer, by format; null where nobody hears it. */
  readonly statuses: readonly number[] | null
  end(client: AbortController): Promise<void> | void
}

// The last one stops the service for good.
const endings: readonly Ending[] = [
  {
    name: 'whose client leaves',
    reason: 'client-left',
    outcome: 'aborted',
    statuses: null,
    end: (client) => client.abort(),
  },
  {
    name: 'whose organization is disabled',
    reason: 'organization-disabled',
    outcome: 'aborted',
    statuses: [403],
    async end() {
      const { organizationId } = service.home
      await setOrganizationDisabled(service.accounts, operator, { organizationId, isDisabled: true })
      await setOrganizationDisabled(service.accounts, operator, { organizationId, isDisabled: false })
    },
  },
  {
    name: 'whose key is revoked',
    reason: 'key-ended',
    outcome: 'aborted',
    statuses: [401],
    async end() {
      const { organizationId } = service.home
      await revokeApiKey(service.accounts, operator, { id: key.id, organizationId })
      key = await createApiKey(service.accounts, operator, { name: 'tested', ...service.home })
    },
  },
  {
    name: 'which a stopping service cuts off',
    reason: 'service-stopping',
    outcome: 'failed',
    statuses: [503, 529],
    end: () => service.parts.tracker.abortAll(),
  },
]

function ask(path: string, isStream: boolean, client: AbortController): Promise<Response> {
  const messages = [{ role: 'user', content: 'x' }]
  return fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}` },
    body: JSON.stringify({ model: 'clarke-1.0', max_tokens: 900, stream: isStream, messages }),
    signal: client.signal,
  })
}

const rows = () =>
  service.db.selectFrom('ledger').select(['outcome', 'reason', 'output', 'cost_micros']).orderBy('sequence').execute()

for (const path of [paths.chat, paths.messages]) {
  describe(path, () => {
    for (const { name, reason, outcome, statuses, end } of endings) {
      for (const isStream of [true, false]) {
        test(`a ${isStream ? 'stream' : 'whole answer'} ${name} is ${outcome}, with that for its reason`, async () => {
          const known = (await rows()).length
          const begunBefore = answersBegun
          const client = new AbortController()
          const asking = ask(path, isStream, client)
          asking.catch(() => {})
          const transcript = isStream ? new Transcript(await asking) : null
          if (transcript !== null) await until(() => transcript.text.includes('two'), 'There is no text.')
          await until(() => answersBegun > begunBefore, 'The answer was not begun.')
          await end(client)
          const row = await until(async () => (await rows())[known], 'There is no row.')
          deepEqual([row.outcome, row.reason], [outcome, reason])
          if (outcome === 'failed') equal(row.cost_micros, 0)
          else equal((row.cost_micros ?? 0) > 0, true)
          await checkTold(asking, { transcript, statuses, reason })
          const metrics = (await service.metrics.expose()).text
          match(metrics, metricOf(outcome, reason))
          // Whoever has left is told of no error, and of none of these endings is a client told that it was too slow.
          doesNotMatch(metrics, /odyssey_errors_total\{code="request-timeout"\}/)
        })
      }
    }
  })
}

const metricOf = (outcome: string, reason: string) =>
  new RegExp(`odyssey_generations_total\\{model="clarke-1.0",outcome="${outcome}",reason="${reason}"\\} [1-9]`)

type Told = Pick<Ending, 'statuses' | 'reason'> & {
  /** Null for a whole answer. */
  readonly transcript: Transcript | null
}

async function checkTold(asking: Promise<Response>, { transcript, statuses, reason }: Told): Promise<void> {
  const whole = transcript === null && statuses !== null ? (await asking).status : 200
  if (transcript === null && statuses !== null) ok(statuses.includes(whole))
  if (transcript !== null && statuses !== null) await until(() => transcript.end, 'The stream goes on.')
  const line = await until(() => lines.find(({ path }) => path !== undefined), 'There is no line in the log.')
  deepEqual([line['status'], line['broke_off']], statuses === null ? [499, 'client-left'] : [whole, reason])
}
