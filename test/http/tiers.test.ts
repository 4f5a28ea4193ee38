// What a fresh installation says and does of limits before anybody has set one. The engine is scripted, counts every
// prompt as ten tokens, and the service's clock is moved by hand.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { createManagementKey } from '../../src/accounts/management-keys.ts'
import { createOrganization, type Home } from '../../src/accounts/organizations.ts'
import type { ManagementKeyPrincipal } from '../../src/core/principal.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { assignTier, listTiers, setTierLimit } from '../../src/limits/settings/tiers.ts'
import { bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const operator = { kind: 'operator' } as const
const model = 'clarke-1.0'

let service: FakeService
let acme: Home
let acmeKey: string

beforeEach(async () => {
  service = await startFakeService({}, {}, { hasTiers: true })
  acme = await createOrganization(service.accounts, operator, { name: 'Acme' })
  acmeKey = (await createApiKey(service.accounts, operator, { name: 'acme', ...acme })).key
  await service.parts.access.refresh()
})
afterEach(() => service.close())

async function ask(
  key: string,
  format: Format = 'messages',
  body = JSON.stringify(bodyFor(format, { model })),
  path = paths[format],
) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${service.address}${path}`, { method: 'POST', headers, body })
  await response.text()
  const header = (name: string) => Number(response.headers.get(name) ?? Number.NaN)
  return { status: response.status, header, retryAfter: response.headers.get('retry-after') }
}

const standing = ({ header }: Awaited<ReturnType<typeof ask>>) =>
  ['requests', 'input-tokens', 'output-tokens'].map((kind) => [
    header(`anthropic-ratelimit-${kind}-limit`),
    header(`anthropic-ratelimit-${kind}-remaining`),
  ])

async function setTier(values: Parameters<typeof setTierLimit>[2]): Promise<void> {
  await setTierLimit(service.accounts, operator, values)
  await service.limits.look()
}

async function setOwn(values: Omit<Parameters<typeof setLimit>[2], 'organizationId' | 'subject'>, by?: 'organization') {
  const { organizationId } = acme
  const named = { organizationId, name: 'admin', role: 'owner', expiresAtMs: null } as const
  const { id: managementKeyId } = await createManagementKey(service.accounts, operator, named)
  const admin: ManagementKeyPrincipal = { kind: 'management-key', managementKeyId, organizationId, role: 'owner' }
  const subject = { kind: 'organization', id: organizationId } as const
  await setLimit(service.accounts, by === undefined ? operator : admin, { organizationId, subject, ...values })
  await service.limits.look()
}

for (const format of formats) {
  test(`${format}: a fresh installation tells the keys of every organization how their tier stands`, async () => {
    const tiers = await listTiers(service.accounts, operator)
    for (const [key, tier] of [
      [service.key, 'internal'],
      [acmeKey, 'tier-1'],
    ] as const) {
      const limits = tiers.find(({ id }) => id === tier)?.limits.find((limit) => limit.model === model)
      const { requestsPerMinute, inputTokensPerMinute, outputTokensPerMinute } = limit(limits)
      const answer = await ask(key, format)
      equal(answer.status, 200)
      deepEqual(standing(answer), [
        [requestsPerMinute, requestsPerMinute - 1],
        [inputTokensPerMinute, inputTokensPerMinute - 10],
        // One word was all the answer was.
        [outputTokensPerMinute, outputTokensPerMinute - 1],
      ])
      equal(answer.header('x-ratelimit-remaining-tokens'), inputTokensPerMinute + outputTokensPerMinute - 11)
    }
  })
}

/** Requests that are refused before any model is known to be asked. */
const modelless = {
  'a body that is no JSON': '{"model":',
  'a body that its schema refuses': JSON.stringify({ model, messages: 5 }),
  'a model that there is not': JSON.stringify(bodyFor('messages', { model: 'none' })),
}

for (const format of formats) {
  for (const [name, body] of Object.entries(modelless)) {
    test(`${format}: ${name} is refused with the tightest limits of all models, and takes nothing of them`, async () => {
      await setTier({ tier: 'tier-1', model: 'hal-1.0', inputTokensPerMinute: 700, outputTokensPerMinute: 90_000 })
      await setTier({ tier: 'tier-1', model: 'tycho-1.0', inputTokensPerMinute: 90_000, outputTokensPerMinute: 80 })
      for (const _ of [1, 2]) {
        const answer = await ask(acmeKey, format, body)
        ok([400, 404].includes(answer.status))
        const [requests, ...tokens] = standing(answer)
        deepEqual(tokens, [
          [700, 700],
          [80, 80],
        ])
        ok(requests?.[0] === requests?.[1])
      }
    })
  }

  test(`${format}: a key that may ask one model hears of the limits of that one where none is known to be asked`, async () => {
    await setTier({ tier: 'tier-1', model: 'hal-1.0', inputTokensPerMinute: 700 })
    await setTier({ tier: 'tier-1', model: 'tycho-1.0', inputTokensPerMinute: 800 })
    const rules = { models: ['tycho-1.0'] } as const
    const { key } = await createApiKey(service.accounts, operator, { name: 'small', rules, ...acme })
    await service.parts.access.refresh()
    deepEqual(standing(await ask(key, format, '{'))[1], [800, 800])
  })
}

test('a count that is refused before its model is known tells the tightest limits of all models', async () => {
  await setTier({ tier: 'tier-1', model: 'hal-1.0', inputTokensPerMinute: 700 })
  const answer = await ask(acmeKey, 'messages', '{', '/v1/messages/count_tokens')
  equal(answer.status, 400)
  deepEqual(standing(answer)[1], [700, 700])
})

type Numbers = Record<'requestsPerMinute' | 'inputTokensPerMinute' | 'outputTokensPerMinute', number>

const limit = (values: object | undefined) => values as Numbers

test('a key of the home organization is refused nothing by its tier, and shown no debt', async () => {
  await setTier({
    tier: 'internal',
    model,
    inputTokensPerMinute: 15,
    requestsPerMinute: 1,
    concurrency: 1,
    isRequestsEnforced: true,
  })
  for (const [requests, input] of [
    [0, 5],
    [0, 0],
    [0, 0],
  ] as const) {
    const answer = await ask(service.key)
    equal(answer.status, 200)
    deepEqual(standing(answer).slice(0, 2), [
      [1, requests],
      [15, input],
    ])
  }
})

test('a key of another organization is refused what its tier has no room for, by tokens and not by requests', async () => {
  await setTier({ tier: 'tier-1', model, inputTokensPerMinute: 15, requestsPerMinute: 1 })
  equal((await ask(acmeKey)).status, 200)
  const refused = await ask(acmeKey)
  equal(refused.status, 429)
  equal(refused.retryAfter, '20')
  await setTier({ tier: 'tier-1', model, requestsPerMinute: 1 })
  for (const _ of [1, 2, 3]) equal((await ask(acmeKey)).status, 200)
})

test('an organization in another tier has the limits of that one at once, and what it used counts on', async () => {
  await setTier({ tier: 'tier-1', model, inputTokensPerMinute: 15 })
  await setTier({ tier: 'tier-3', model, inputTokensPerMinute: 25 })
  equal((await ask(acmeKey)).status, 200)
  equal((await ask(acmeKey)).status, 429)
  await assignTier(service.accounts, operator, { organizationId: acme.organizationId, tier: 'tier-3' })
  await service.limits.look()
  const answer = await ask(acmeKey)
  equal(answer.status, 200)
  deepEqual(standing(answer)[1], [25, 5])
  equal((await ask(acmeKey)).status, 429)
})

test('a limit that the installation sets takes the place of the tier’s of its kind, and of no other', async () => {
  const tier = (await listTiers(service.accounts, operator))[0]?.limits.find((each) => each.model === model)
  await setTier({ ...limit(tier), tier: 'tier-1', model, inputTokensPerMinute: 15 })
  await setOwn({ model: '*', inputTokensPerMinute: 1_000 })
  const answer = await ask(acmeKey)
  deepEqual(standing(answer)[1], [1_000, 990])
  equal(standing(answer)[2]?.[0], limit(tier).outputTokensPerMinute)
  equal((await ask(acmeKey)).status, 200)
})

test('a limit that an organization sets for itself lifts nothing of its tier', async () => {
  await setTier({ tier: 'tier-1', model, inputTokensPerMinute: 15 })
  await setOwn({ model: '*', inputTokensPerMinute: 1_000 }, 'organization')
  equal((await ask(acmeKey)).status, 200)
  equal((await ask(acmeKey)).status, 429)
  await setOwn({ model, inputTokensPerMinute: 12 }, 'organization')
  ok(Number.isFinite(standing(await ask(acmeKey))[1]?.[0]))
})
