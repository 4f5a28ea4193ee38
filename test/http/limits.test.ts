// What clients of both formats are told of their limits. The engine is scripted, counts every
// prompt as ten tokens, and the service's clock is moved by hand.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { LimitValues } from '../../src/core/limit-fields.ts'
import { removeBudget, setBudget } from '../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { createRandom } from '../campaigns/random.ts'
import { bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const operator = { kind: 'operator' } as const

let service: FakeService
beforeEach(async () => {
  service = await startFakeService({})
})
afterEach(() => service.close())

async function limit(values: Partial<LimitValues>): Promise<void> {
  const { organizationId, projectId } = service.home
  const subject = { kind: 'project', id: projectId } as const
  await setLimit(service.accounts, operator, { organizationId, subject, model: '*', ...values })
  await service.limits.look()
}

async function ask(format: Format, fields: Record<string, unknown> = {}, path = paths[format]) {
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}` },
    body: JSON.stringify(bodyFor(format, fields)),
  })
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: () => JSON.parse(text) as Record<string, unknown> }
}

type Answer = Awaited<ReturnType<typeof ask>>

const told = ({ headers }: Answer) =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => /ratelimit|retry/.test(name))
      .map(([name, value]) => [name.replace(/^(x|anthropic)-ratelimit-/, '$1 '), value]),
  )

/** The wait as the words of a refusal have it, such as `2m56s`. */
function secondsIn(text: string): number {
  const [, minutes = '0', seconds = '0', unit] = /try again in (?:(\d+)m(?!s))?([\d.]+)(m?s)\./.exec(text) ?? []
  return unit === 'ms' ? Number(seconds) / 1_000 : 60 * Number(minutes) + Number(seconds)
}

test('without limits nothing is said of any', async () => {
  for (const format of formats) deepEqual(told(await ask(format)), {})
})

for (const format of formats) {
  test(`${format}: every answer tells how the limits stand: whole, streamed, refused, counted`, async () => {
    await limit({ inputTokensPerMinute: 600, outputTokensPerMinute: 6_000, requestsPerMinute: 60 })
    const words = { messages: [{ role: 'user', content: 'two words' }], max_tokens: 100 }
    const whole = await ask(format, words)
    equal(whole.status, 200)
    deepEqual(told(whole), {
      'x limit-requests': '60',
      'x remaining-requests': '59',
      'x reset-requests': '1s',
      'x limit-tokens': '6600',
      'x remaining-tokens': '6588',
      'x reset-tokens': '1s',
      'x limit-input-tokens': '600',
      'x remaining-input-tokens': '590',
      'x reset-input-tokens': '1s',
      'x limit-output-tokens': '6000',
      // Two words were all the answer was.
      'x remaining-output-tokens': '5998',
      'x reset-output-tokens': '20ms',
      'anthropic requests-limit': '60',
      'anthropic requests-remaining': '59',
      'anthropic requests-reset': '2027-01-15T08:00:01Z',
      'anthropic tokens-limit': '6600',
      'anthropic tokens-remaining': '6588',
      'anthropic tokens-reset': '2027-01-15T08:00:01Z',
      'anthropic input-tokens-limit': '600',
      'anthropic input-tokens-remaining': '590',
      'anthropic input-tokens-reset': '2027-01-15T08:00:01Z',
      'anthropic output-tokens-limit': '6000',
      'anthropic output-tokens-remaining': '5998',
      'anthropic output-tokens-reset': '2027-01-15T08:00:01Z',
    })
    const streamed = await ask(format, { ...words, stream: true })
    equal(streamed.status, 200)
    // A stream's head is written while its answer's worst case is reserved.
    equal(told(streamed)['anthropic output-tokens-remaining'], '5898')
    equal(told(streamed)['x remaining-requests'], '58')
    const invalid = await ask(format, { messages: 'none' })
    equal(invalid.status, 400)
    equal(told(invalid)['x remaining-input-tokens'], '580')
    const counted = await ask('messages', words, '/v1/messages/count_tokens')
    equal(counted.status, 200)
    equal(told(counted)['x remaining-input-tokens'], '580')
  })

  test(`${format}: a refusal says what was exceeded and when to come back, exactly`, async () => {
    await limit({ inputTokensPerMinute: 15 })
    await ask(format)
    const refused = await ask(format)
    equal(refused.status, 429)
    // Five tokens are missing, of which one comes in four seconds.
    deepEqual(
      [told(refused)['retry-after'], told(refused)['x-should-retry'], told(refused)['x remaining-input-tokens']],
      ['20', 'true', '5'],
    )
    const error = refused.json()['error'] as Record<string, unknown>
    if (format === 'chat') {
      deepEqual([error['type'], error['code']], ['rate_limit_error', 'rate_limit_exceeded'])
      equal(
        error['message'],
        'Rate limit reached for clarke-1.0: limit 15 input tokens/min, used 10, requested 10. Please try again in 20s.',
      )
    } else {
      equal(error['type'], 'rate_limit_error')
      equal(error['message'], 'This request would exceed your rate limit of 15 input tokens per minute.')
    }
    service.clock.advance(19_999)
    equal((await ask(format)).status, 429)
    service.clock.advance(1)
    equal((await ask(format)).status, 200)
  })

  test(`${format}: of 200 refused clients that wait as long as retry-after says, none is refused again`, async () => {
    await limit({ inputTokensPerMinute: 33, outputTokensPerMinute: 21 })
    const random = createRandom(format.length)
    const longest = { seconds: 0 }
    for (let refusals = 0; refusals < 200;) {
      const content = 'word '.repeat(random.integer(1, 35))
      const fields = { messages: [{ role: 'user', content }] }
      const refused = await ask(format, fields)
      if (refused.status === 200) continue
      refusals += 1
      const seconds = Number(refused.headers.get('retry-after'))
      equal(refused.headers.get('x-should-retry'), String(seconds <= 60))
      if (format === 'chat') equal(Math.ceil(secondsIn(refused.text)), seconds)
      service.clock.advance(seconds * 1_000)
      equal((await ask(format, fields)).status, 200)
      longest.seconds = Math.max(longest.seconds, seconds)
      service.clock.advance(random.integer(0, 999))
    }
    ok(longest.seconds > 60, `${longest.seconds}`)
  })

  test(`${format}: a used-up budget is a refusal that is not worth trying again`, async () => {
    const { organizationId } = service.home
    const subject = { kind: 'organization', id: organizationId } as const
    const { id } = await setBudget(service.accounts, operator, {
      organizationId,
      subject,
      period: 'day',
      tokensMax: 30,
    })
    await service.limits.look()
    const capped = await ask(format, {
      messages: [{ role: 'user', content: 'a b c d e f g h i j k l m n' }],
      max_tokens: 4,
    })
    equal(capped.status, 200)
    const refused = await ask(format, { max_tokens: 7 })
    equal(refused.status, 429)
    equal(refused.headers.get('x-should-retry'), 'false')
    const error = refused.json()['error'] as Record<string, unknown>
    match(String(error['message']), /daily budget of this organization .* begins at 2027-01-16T00:00:00Z\.$/)
    if (format === 'chat') equal(error['code'], 'insufficient_quota')
    else deepEqual(error['details'], { error_code: 'enforced_spend_limit_reached' })
    await removeBudget(service.accounts, operator, { id, organizationId })
    await service.limits.look()
    equal((await ask(format, { max_tokens: 7 })).status, 200)
  })
}

test('an answer that a budget cuts short says that it is not whole', async () => {
  const { organizationId } = service.home
  const subject = { kind: 'organization', id: organizationId } as const
  await setBudget(service.accounts, operator, { organizationId, subject, period: 'day', tokensMax: 1_210 })
  await service.limits.look()
  const content = 'word '.repeat(2_000)
  const answer = await ask('chat', { messages: [{ role: 'user', content }], n: 2 })
  equal(answer.status, 200)
  type Body = { usage: { completion_tokens: number }; choices: { finish_reason: string }[] }
  const { usage, choices } = answer.json() as Body
  equal(usage.completion_tokens, 1_200)
  deepEqual(
    choices.map(({ finish_reason: reason }) => reason),
    ['length', 'length'],
  )
  equal((await ask('chat', { max_tokens: 1 })).status, 429)
})

/** Limits of which each lets 50 requests a minute through where it is the one that binds, and 60 where it is not. */
const paced = [
  { binding: 'requests', input: 600, output: 1_200, requests: 50 },
  { binding: 'input tokens', input: 500, output: 1_200, requests: 60 },
  { binding: 'output tokens', input: 600, output: 1_000, requests: 60 },
] as const

for (const format of formats) {
  for (const { binding, input, output, requests } of paced) {
    test(`${format}: a client that paces itself by its format's headers meets no refusal and uses its limit of ${binding} up`, async () => {
      await limit({
        inputTokensPerMinute: input,
        outputTokensPerMinute: output,
        requestsPerMinute: requests,
        isRequestsEnforced: true,
      })
      const minutes = 10
      const endMs = service.clock.monotonicMs() + minutes * 60_000
      // Its answer is as long as it may be.
      const fields = { max_tokens: 20, messages: [{ role: 'user', content: 'word '.repeat(20) }] }
      let served = 0
      while (service.clock.monotonicMs() < endMs) {
        const answer = await ask(format, fields)
        equal(answer.status, 200)
        served += 1
        const head = told(answer)
        const remaining = (kind: string) =>
          Number(head[format === 'chat' ? `x remaining-${kind}` : `anthropic ${kind}-remaining`])
        const missing = [
          [10, remaining('input-tokens'), input],
          [20, remaining('output-tokens'), output],
          [1, remaining('requests'), requests],
        ] as const
        const waits = missing.map(([needed, left, perMinute]) => Math.max(0, ((needed - left) * 60_000) / perMinute))
        service.clock.advance(Math.ceil(Math.max(...waits)))
      }
      ok(served >= 0.98 * 50 * minutes && served <= 50 * (minutes + 1) + 1, `${served}`)
    })
  }
}

test('a prompt longer than answers may be fits into what the headers of all tokens say is left', async () => {
  await limit({ inputTokensPerMinute: 2_000, outputTokensPerMinute: 5 })
  const head = told(await ask('chat', { max_tokens: 2 }))
  ok(Number(head['x remaining-tokens']) > 5, JSON.stringify(head))
  equal(head['x limit-tokens'], '2005')
})
