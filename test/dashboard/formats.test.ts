// What the dashboard writes figures, times and addresses with, and reads streams by; no browser is needed for it.

import { deepEqual, equal, throws } from 'node:assert/strict'
import { mock, suite, test } from 'node:test'
import fc from 'fast-check'
import { titlesOf } from '../../web/src/charts/bucket-titles.ts'
import { spacedHours, ticksUpTo } from '../../web/src/charts/ticks.ts'
import {
  formatBytes,
  formatChange,
  formatCounted,
  formatDuration,
  formatShare,
  formatShortCount,
} from '../../web/src/format/figures.ts'
import { addDays, dayIn, hasWholeHours, startOfDay } from '../../web/src/format/zone.ts'
import { plainName, shortId } from '../../web/src/format/id.ts'
import { formatExactMoney, formatMoney, formatRate, shareOf } from '../../web/src/format/money.ts'
import { parseCount, parseMoney } from '../../web/src/format/parse-typed.ts'
import { formatAgo, formatInstant, formatUntil } from '../../web/src/format/time.ts'
import { isName } from '../../web/src/api/passkey.ts'
import { maxNow, sharesOf } from '../../web/src/app/budgets/budget-words.ts'
import { wordsOfAction } from '../../web/src/app/audit/action-words.ts'
import { priceInForce } from '../../web/src/app/prices/price-in-force.ts'
import { requestsHref, requestsSearch, toFilter } from '../../web/src/app/requests/requests-search.ts'
import { day, flag, oneOf, searchCodec, text } from '../../web/src/lib/search-codec.ts'
import { readEvents } from '../../web/src/lib/wire.ts'
import { rangeOf, requestsFilterOf, usageSearch } from '../../web/src/pages/usage/search.ts'
import { tickOf } from '../../web/src/pages/usage/metrics.ts'

const dollars = { currency: 'USD' }

test('of two prices for one moment the later made one is in force', () => {
  const of = (id: string, createdAt: string) => ({
    id,
    organizationId: null,
    model: 'hal-1.0',
    currency: 'USD',
    effectiveAt: '2027-01-01T00:00:00.000Z',
    rates: { input: 1, cacheRead: 1, cacheWriteShort: 1, cacheWriteLong: 1, output: 1 },
    createdAt,
    fault: null,
  })
  const prices = [of('price_1', '2026-12-01T00:00:00.000Z'), of('price_2', '2026-12-01T00:00:00.001Z')]
  // The clock of whoever looks at the page says what has begun.
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2027-01-02T00:00:00Z') })
  equal(priceInForce(prices, null)('hal-1.0')?.id, 'price_2')
  mock.timers.reset()
})

suite('money', () => {
  test('is written from micros without passing through a float', () => {
    equal(formatMoney('2899910000', dollars), '$2,899.91')
    equal(formatMoney('9007199254740993000000', dollars), '$9,007,199,254,740,993.00')
    equal(formatMoney('6131', { ...dollars, decimals: 6 }), '$0.006131')
    equal(formatMoney('0', dollars), '$0.00')
    equal(formatMoney('-1500000', dollars), '−$1.50')
    equal(formatExactMoney('6131.25', 'USD'), '0.00613125 USD')
  })

  test('below half a cent is not written as nothing', () => equal(formatMoney('214', dollars), '< $0.01'))

  test('a rate has as many decimals as it needs, and two at least', () => {
    const rates = [0, 3_000_000, 25_000, 312_500, 1, 1_234_567_890].map((micros) => formatRate(micros, 'USD'))
    deepEqual(rates, ['$0.00', '$3.00', '$0.025', '$0.3125', '$0.000001', '$1,234.56789'])
  })

  test('refuses what is no amount', () => throws(() => formatMoney('1e9', dollars)))

  test('an amount that is typed as it is shown comes back as the same amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), (micros) => {
        const typed = `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`
        equal(parseMoney(typed), String(micros))
        const shown = `${new Intl.NumberFormat('en-US').format(micros / 1_000_000n)}${typed.slice(typed.indexOf('.'))}`
        equal(parseMoney(shown), String(micros))
      }),
    )
    for (const wrong of ['', '-1', 'abc', '1.1234567']) equal(parseMoney(wrong), null)
  })

  test('has a comma before three digits for a group, and for a decimal one only where it can be no group', () => {
    for (const [typed, micros] of [
      ['10,000', '10000000000'],
      ['1,000.50', '1000500000'],
      ['9,007,199,254.74', '9007199254740000'],
      ['0,5', '500000'],
      ['12,50', '12500000'],
      ['0,125', '125000'],
    ] as const) {
      equal(parseMoney(typed), micros, typed)
    }
    for (const wrong of ['1234,500', '1,00,000', '10,000,5', '1.000,50', '1.000.000', '1,000.', ',5'])
      equal(parseMoney(wrong), null, wrong)
  })

  test('has a share of another amount, and none of nothing', () => {
    equal(shareOf('25', '100'), 0.25)
    equal(shareOf('25', '0'), 0)
  })
})

test('a count that is typed may have groups, and no part of a whole', () => {
  for (const [typed, count] of [
    ['3000000', 3_000_000],
    ['3,000,000', 3_000_000],
    [' 400\u202f000 ', 400_000],
    ['0', 0],
  ] as const) {
    equal(parseCount(typed), count, typed)
  }
  for (const wrong of ['', '1.5', '1,5', '1.000', '-1', '1e3', '1,00,000']) equal(parseCount(wrong), null, wrong)
})

suite('figures', () => {
  test('are short from a million on, and whole below', () => {
    equal(formatShortCount(947_210), '947,210')
    equal(formatShortCount(1_720_000_000), '1.72\u202fB')
  })
  test('durations, sizes and changes are shown with their unit', () => {
    equal(formatDuration(312.4), '312 ms')
    equal(formatDuration(4_213), '4.21 s')
    equal(formatDuration(72_000), '1 m 12 s')
    equal(formatDuration(4_747_000), '1 h 19 m')
    equal(formatCounted(1, 'token'), '1 token')
    equal(formatCounted(1_200, 'token'), '1,200 tokens')
    equal(formatBytes(2_700_000_000), '2.7\u202fGB')
    equal(formatChange(108.1, 100), '+8.1\u202f%')
    equal(formatChange(1, 0), null)
    equal(formatShare(2_059.73), '205,973.0\u202f%')
  })
  test('on an axis are round, reach the largest value and are whole for what is counted', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (max) => {
        const ticks = ticksUpTo(max)
        equal(ticks[0], 0)
        equal((ticks.at(-1) ?? 0) >= max * (1 - 1e-9) && ticks.length <= 6, true, String(max))
      }),
    )
    equal(ticksUpTo(9, true).every(Number.isInteger), true)
  })
})

suite('times', () => {
  const now = Date.parse('2026-11-23T05:20:10Z')
  test('are in the zone that is asked for', () => {
    equal(formatInstant('2026-11-23T05:19:07Z', { zone: 'UTC', now }), '23 Nov 05:19:07')
    equal(formatInstant('2026-11-23T05:19:07Z', { zone: 'Asia/Kolkata', now }), '23 Nov 10:49:07')
    equal(formatInstant('2025-09-03T05:19:07Z', { zone: 'UTC', now }), '3 Sep 2025 05:19:07')
  })
  test('are told from now only within a day', () => {
    equal(formatAgo('2026-11-23T05:17:10Z', { zone: 'UTC', now }), '3 min ago')
    equal(formatAgo('2026-11-20T05:17:10Z', { zone: 'UTC', now }), '20 Nov 2026')
    equal(formatUntil('2026-11-28T05:20:10Z', now), 'in 5 days')
  })
})

suite('a page’s state in its address', () => {
  const codec = searchCodec({ q: text(), state: oneOf(['active', 'ended'], 'active'), live: flag, from: day })
  test('comes back from the address it is written to', () => {
    const state = { q: 'a&b=c', state: 'ended', live: true, from: '2026-11-23' } as const
    deepEqual(codec.read(codec.write(state)), { state, unread: [] })
    equal(codec.write({ q: '', state: 'active', live: false, from: '' }), '')
  })
  test('falls back and says so where the address has a value that is not known', () => {
    const { state, unread } = codec.read('?state=gone&from=2026-13-45&q=x')
    deepEqual(state, { q: 'x', state: 'active', live: false, from: '' })
    deepEqual(unread, ['state', 'from'])
  })
  test('has days of the years that calendars and the service count alike', () => {
    for (const [from, isDay] of [
      ['0002-11-30', false],
      ['1999-12-31', false],
      ['2000-01-01', true],
      ['9998-12-31', true],
      ['9999-12-31', false],
    ] as const) {
      equal(codec.read(`?from=${from}`).unread.length === 0, isDay, from)
      equal(requestsSearch.read(`?to=${from}T10:00Z`).unread.length === 0, isDay, from)
    }
  })
})

suite('a range of usage', () => {
  const now = Date.parse('2026-11-23T05:20:10Z')
  const custom = { range: 'custom', from: '2026-10-24', to: '2026-11-22', bucket: 'auto', zone: 'UTC' } as const
  test('has whole days of the page’s zone', () => {
    deepEqual(rangeOf(custom, now), { from: '2026-10-24T00:00:00.000Z', to: '2026-11-23T00:00:00.000Z', bucket: 'day' })
    const inBerlin = rangeOf({ ...custom, zone: 'Europe/Berlin' }, now)
    deepEqual([inBerlin.from, inBerlin.to], ['2026-10-23T22:00:00.000Z', '2026-11-22T23:00:00.000Z'])
    equal(rangeOf({ ...custom, range: 'today', zone: 'America/Los_Angeles' }, now).from, '2026-11-22T08:00:00.000Z')
  })
  test('is cut into hours, days or weeks as its length asks for, and never into more hours than make a chart', () => {
    const bucketOf = (range: 'today' | '30d' | '12m', bucket: 'auto' | 'hour') =>
      rangeOf({ ...custom, range, from: '', to: '', bucket }, now).bucket
    deepEqual([bucketOf('today', 'auto'), bucketOf('30d', 'auto'), bucketOf('12m', 'auto')], ['hour', 'day', 'week'])
    equal(bucketOf('12m', 'hour'), 'day')
  })
})

suite('a sum of usage', () => {
  const filterOf = (search: string) => requestsFilterOf(usageSearch.read(search).state)
  test('leads to the requests of the same model, project and key', () =>
    deepEqual(filterOf('?by=user&model=hal-1.0&project=proj_1&key=key_1&zone=Europe/Berlin'), {
      zone: 'Europe/Berlin',
      model: 'hal-1.0',
      project: 'proj_1',
      key: 'key_1',
    }))
  test('of some end user or tag leads to none, since no list of requests is filtered by these', () => {
    for (const search of ['?user=u1', '?by=user&user=u1', '?tagKey=team', '?by=tag&tagKey=team&tag=a'])
      equal(filterOf(search), null, search)
    // A name without what it is of filters nothing.
    equal(filterOf('?tag=a')?.zone, 'UTC')
  })
})

suite('a day of a zone', () => {
  test('begins at the zone’s midnight and ends where the next begins, also when clocks change', () => {
    for (const zone of [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Sydney',
      'Asia/Kolkata',
      'Asia/Beirut',
    ]) {
      for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1)) {
        const [startMs, endMs] = [startOfDay(day, zone), startOfDay(addDays(day, 1), zone)]
        deepEqual([dayIn(zone, startMs), dayIn(zone, endMs - 1)], [day, day], `${zone} ${day}`)
        equal([23, 24, 25].includes((endMs - startMs) / 3_600_000), true, `${zone} ${day}`)
      }
    }
  })
  test('is told apart only where the zone’s hours begin with those of UTC', () => {
    deepEqual(
      ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Nowhere/None'].map((zone) => hasWholeHours(zone)),
      [true, true, false, false],
    )
  })
})

suite('the requests that a figure is made of', () => {
  test('are asked for by the very time and filters that the figure is of', () => {
    const search = new URL(
      requestsHref('org_1', { from: '2026-10-24', to: '2026-10-25', zone: 'Europe/Berlin', model: 'hal-1.0' }),
      'http://localhost',
    ).search
    deepEqual(toFilter(requestsSearch.read(search).state), {
      from: '2026-10-23T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
      model: 'hal-1.0',
    })
    const hour = { from: '2026-10-24T05:00:00.000Z', to: '2026-10-24T06:00:00.000Z' }
    deepEqual(
      toFilter(requestsSearch.read(requestsSearch.write({ ...requestsSearch.read('').state, ...hour })).state),
      hour,
    )
  })
  test('are filtered by amounts as they are typed, and by nothing that is no filter', () => {
    const costOf = (dearer: string) =>
      toFilter(requestsSearch.read(`?range=all&dearer=${encodeURIComponent(dearer)}`).state)
    deepEqual(costOf('0,0005'), { costMicrosMin: 500 })
    deepEqual(costOf('2'), { costMicrosMin: 2_000_000 })
    for (const wrong of ['$1', '1e3', '-1', '999999999999'])
      deepEqual(requestsSearch.read(`?dearer=${encodeURIComponent(wrong)}`).unread, ['dearer'], wrong)
    for (const codec of [requestsSearch, usageSearch]) {
      deepEqual(codec.read('?model=gpt-4').unread, ['model'])
      equal(codec.read('?model=hal-1.0').state.model, 'hal-1.0')
    }
  })
})

suite('text of others', () => {
  test('shows the marks that would change what is around it', () => equal(plainName('a\u202eb\u200bc'), 'a▯b▯c'))
  test('shows what is as blank as a space, or tells Arabic which way to run', () =>
    equal(plainName('a\u3164b\u061cc\u00add\u2028e'), 'a▯b▯c▯d▯e'))
  test('leaves families and words of Persian whole, and shows a joiner that joins nothing', () => {
    for (const name of ['👩\u200d👩\u200d👧', '🏳\ufe0f\u200d🌈', 'می\u200cخواهم']) equal(plainName(name), name)
    equal(plainName('pay\u200dpal'), 'pay▯pal')
  })
  test('shows an id by its beginning', () => equal(shortId('req_brPxwmjGdwhr0Xu2B6xb597A'), 'req_brPxwmjG…'))
})

test('what was done to accounts and by agents has words in the log, and what nobody knows has none', () => {
  for (const [action, words] of [
    ['users:create', 'Created an account'],
    ['totp:begin', 'Began to set up an authenticator'],
    ['agents:allow', 'Let in a coding agent'],
    ['owners:link', 'Made a link for an owner'],
    ['connections:break-glass', 'Signed in past the only provider'],
    ['elsewhere:create', null],
  ] as const) {
    equal(wordsOfAction(action), words)
  }
})

test('a stream of events is read however it is cut', async () => {
  const sent = 'event: a\r\ndata: {"x":1}\r\n\r\n: ping\n\ndata: é\n\ndata: [DONE]\n\n'
  const bytes = new TextEncoder().encode(sent)
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
        controller.close()
      },
    })
    const events = await Array.fromAsync(readEvents(body))
    deepEqual(
      events.map(({ name, text: data }) => [name, data]),
      [
        ['a', '{"x":1}'],
        [null, 'é'],
        [null, '[DONE]'],
      ],
    )
  }
})

suite('hours below a chart', () => {
  const labelled = (days: number, labelsMax: number, zone = 'UTC') => {
    const firstMs = Date.parse('2026-10-24T22:00:00Z')
    const starts = Array.from({ length: days * 24 }, (_, at) => new Date(firstMs + at * 3_600_000).toISOString())
    const { labels, hours = [] } = titlesOf(starts, { zone, bucket: 'hour' })
    return spacedHours(hours, labelsMax).map((at) => labels[at])
  }
  test('part each day evenly, and have the day where it begins', () => {
    deepEqual(labelled(1, 9, 'Etc/GMT-2'), ['25 Oct', '03:00', '06:00', '09:00', '12:00', '15:00', '18:00', '21:00'])
    deepEqual(labelled(2, 5), ['25 Oct', '12:00', '26 Oct', '12:00'])
  })
  test('are days alone where there are many, also when clocks change', () => {
    const days = ['25 Oct', '26 Oct', '27 Oct', '28 Oct', '29 Oct', '30 Oct', '31 Oct']
    deepEqual(labelled(7, 12), days)
    deepEqual(labelled(7, 12, 'Europe/Berlin'), days)
    deepEqual(labelled(7, 4), ['25 Oct', '27 Oct', '29 Oct', '31 Oct'])
    equal(labelled(90, 12).length <= 12, true)
  })
})

test('each step of a chart of cost is called what it is, however small', () => {
  const tick = tickOf('cost', 'USD')
  deepEqual([0, 0.005, 0.01, 0.015].map(tick), ['$0', '$0.005', '$0.01', '$0.015'])
  deepEqual([0, 2.5, 5, 7.5, 10].map(tick), ['$0', '$2.50', '$5.00', '$7.50', '$10'])
  deepEqual([0, 0.00002].map(tick), ['$0', '$0.00002'])
})

suite('a budget', () => {
  const raise = { microsMax: 100, tokensMax: null, until: '2030-01-01T00:00:00Z' }
  const spent = { micros: 100, tokens: 5 }

  test('has with a raise the larger of the two amounts, and what is not raised stays', () => {
    const budget = (microsMax: number | null) => ({ microsMax, tokensMax: 10, raise })
    deepEqual([maxNow(budget(50), 'microsMax'), maxNow(budget(200), 'microsMax')], [100, 200])
    deepEqual([maxNow(budget(null), 'microsMax'), maxNow(budget(50), 'tokensMax')], [null, 10])
  })

  test('that was set to more than its raise is used by what it has', () =>
    equal(sharesOf({ microsMax: 400, tokensMax: null, raise, spent, reserved: null }).spent, 0.25))
})

test('passkeys are offered where the host has a name, and not at an address', () => {
  for (const host of ['localhost', 'ai.example.com', 'machine', '1.example.com']) equal(isName(host), true, host)
  for (const host of ['127.0.0.1', '192.0.2.10', '[::1]']) equal(isName(host), false, host)
})
