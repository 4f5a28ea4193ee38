// The commands for limits and budgets, beside a running service and without one.

import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { ask, bodyFor, longAnswerBody, paths } from '../harness/http/ask.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, until } from '../harness/start-service.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-limits-'))
before(() => runCli({ home }, 'migrate'))
after(() => rmSync(home, { recursive: true }))

type Fields = Record<string, unknown>
const run = async (...args: string[]) => JSON.parse(await runCli({ home }, ...args, '--json')) as Fields
const list = async (what: string, ...args: string[]) =>
  JSON.parse(await runCli({ home }, what, 'list', ...args, '--json')) as readonly Fields[]
const audited = async (prefix: string) =>
  (await runCli({ home }, 'audit', 'export'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Fields)
    .filter(({ action }) => String(action).startsWith(prefix))

test('limits of an organization, a project and a key, for one model or all', async () => {
  const { organizationId, projectId } = await run('organizations', 'create', '--name', 'Acme')
  const inIt = ['--organization', String(organizationId)]
  const key = await run('keys', 'create', '--name', 'k', '--project', String(projectId), ...inIt)
  equal(await runCli({ home }, 'limits', 'list', ...inIt), 'limits: none.\n')

  const own = await run('limits', 'set', '--input-tokens', '400000', '--requests', '600', ...inIt)
  const ofProject = await run(
    'limits',
    'set',
    '--project',
    String(projectId),
    '--model',
    'hal-1.0',
    '--concurrency',
    '4',
    ...inIt,
  )
  const ofKey = await run(
    'limits',
    'set',
    '--key',
    String(key['id']),
    '--output-tokens',
    '9',
    '--cached-percent',
    '0',
    ...inIt,
  )
  const again = await run('limits', 'set', '--requests', '60', '--requests-enforced', ...inIt)
  equal(again['id'], own['id'])

  const nothing = {
    inputTokensPerMinute: null,
    outputTokensPerMinute: null,
    requestsPerMinute: null,
    concurrency: null,
  }
  const unsaid = {
    ...nothing,
    isRequestsEnforced: false,
    cachedReadPercent: 10,
    organizationId,
    model: '*',
    setBy: 'installation',
  }
  deepEqual(await list('limits', ...inIt), [
    {
      ...unsaid,
      ...own,
      subject: { kind: 'organization', id: organizationId },
      requestsPerMinute: 60,
      isRequestsEnforced: true,
    },
    { ...unsaid, ...ofProject, subject: { kind: 'project', id: projectId }, model: 'hal-1.0', concurrency: 4 },
    {
      ...unsaid,
      ...ofKey,
      subject: { kind: 'api-key', id: key['id'] },
      outputTokensPerMinute: 9,
      cachedReadPercent: 0,
    },
  ])
  const lines = (await runCli({ home }, 'limits', 'list', ...inIt)).trimEnd().split('\n')
  match(lines[0] ?? '', /^for +model +input\/min/)
  match(lines[2] ?? '', new RegExp(`^${String(projectId)} +hal-1\\.0 +- +- +- +no +4 +10 +${String(ofProject['id'])}$`))
  deepEqual(await list('limits'), [], 'the default organization has none of them')

  await run('limits', 'remove', String(own['id']), ...inIt)
  deepEqual(
    (await list('limits', ...inIt)).map(({ id }) => id),
    [ofProject['id'], ofKey['id']],
  )
  const rows = await audited('limits:')
  deepEqual(
    rows.map(({ action, actor, target }) => [action, actor, target]),
    [own, ofProject, ofKey, own]
      .map(({ id }) => ['limits:set', 'operator', id])
      .concat([['limits:remove', 'operator', own['id']]]),
  )
  deepEqual(
    [rows[3]?.['before'], rows[3]?.['after']].map((fields) => (fields as Fields)['requestsPerMinute']),
    [600, 60],
  )
})

test('budgets of a day and a month, with what is spent of them', async () => {
  const month = await run('budgets', 'set', '--period', 'month', '--amount', '50.25', '--alert-percent', '80,50')
  const day = await run('budgets', 'set', '--period', 'day', '--tokens', '1000000', '--project', 'proj_default')
  const budgets = await list('budgets')
  deepEqual(
    budgets.map(({ id, period, microsMax, tokensMax, alertPercents, spent }) => [
      id,
      period,
      microsMax,
      tokensMax,
      alertPercents,
      spent,
    ]),
    [
      [month['id'], 'month', 50_250_000, null, [50, 80], { micros: 0, tokens: 0 }],
      [day['id'], 'day', null, 1_000_000, [], { micros: 0, tokens: 0 }],
    ],
  )
  const [starts, ends] = ['periodStartsAt', 'periodEndsAt'].map((name) => Date.parse(String(budgets[1]?.[name])))
  equal((ends ?? 0) - (starts ?? 0), 86_400_000)
  match(await runCli({ home }, 'budgets', 'list'), /^org_default +month +0\.000000 +50\.250000 +0 +- +- +50 %, 80 % /m)
  await run('budgets', 'remove', String(day['id']))
  deepEqual(
    (await list('budgets')).map(({ id }) => id),
    [month['id']],
  )
  deepEqual(
    (await audited('budgets:')).map(({ action }) => action),
    ['budgets:set', 'budgets:set', 'budgets:remove'],
  )
})

test('a budget of money names the models whose use it does not bound, since they have no price', async () => {
  const budget = (...args: string[]) => tryCli({ home }, 'budgets', 'set', '--period', 'year', ...args, '--json')
  const rates = ['input', 'cache-read', 'cache-write', 'cache-write-long', 'output'].flatMap((rate) => [
    `--${rate}`,
    '1',
  ])
  await run('prices', 'set', 'tycho-1.0', ...rates)
  const { exitCode, stdout, stderr } = await budget('--amount', '5')
  deepEqual([exitCode, Object.keys(JSON.parse(stdout) as Fields)], [0, ['id']])
  match(stderr, /^No price in USD: (?!.*tycho)(?=.*hal-1\.0)(?=.*clarke-1\.0).* "odyssey prices set".* --tokens\.\n$/)
  equal((await budget('--tokens', '5')).stderr, '')
  for (const model of ['hal-1.0', 'clarke-1.0']) await run('prices', 'set', model, ...rates)
  equal((await budget('--amount', '5')).stderr, '')
  const { id } = (await list('budgets')).find(({ period }) => period === 'year') ?? {}
  await run('budgets', 'remove', String(id))
})

test('a budget of a lifetime, raised until a time, with the alerts that were reached', async () => {
  const { id } = await run('budgets', 'set', '--period', 'lifetime', '--tokens', '1000', '--alert-percent', '50,100')
  const find = async () => (await list('budgets')).find((budget) => budget['id'] === id) ?? {}
  const { periodStartsAt, periodEndsAt, raise, alerts } = await find()
  deepEqual([periodStartsAt, periodEndsAt, raise], [null, null, null])
  deepEqual(alerts, [
    { percent: 50, reachedAt: null },
    { percent: 100, reachedAt: null },
  ])
  const reachedAt = '2026-11-28T10:00:00.000Z'
  const db = new DatabaseSync(join(home, 'odyssey.db'))
  const insert = db.prepare(
    `INSERT INTO budget_alerts (budget_id, period_start, percent, organization_id, at, spent_micros, spent_tokens)
     VALUES (?, 0, 50, 'org_default', ?, 0, 500)`,
  )
  insert.run(String(id), Date.parse(reachedAt))
  db.close()
  deepEqual((await find())['alerts'], [
    { percent: 50, reachedAt },
    { percent: 100, reachedAt: null },
  ])
  match(await runCli({ home }, 'budgets', 'list'), new RegExp(`50 % at ${reachedAt}, 100 %`))
  await run('budgets', 'raise', String(id), '--tokens', '5000', '--until', '2099-01-01')
  deepEqual((await find())['raise'], { microsMax: null, tokensMax: 5_000, until: '2099-01-01T00:00:00.000Z' })
  match(await runCli({ home }, 'budgets', 'list'), / 5000 +2099-01-01T00:00:00\.000Z +50 % at \S+, 100 % +- /)
  await run('budgets', 'raise', String(id), '--until', 'now')
  equal((await find())['raise'], null)
  deepEqual(
    (await audited('budgets:raise')).map(({ target, after }) => [target, (after as Fields)['raise'] !== null]),
    [
      [id, true],
      [id, false],
    ],
  )
  for (const [words, said] of [
    [['--tokens', '1000', '--until', '2099-01-01'], /of more than the budget's 1000/],
    [['--amount', '5', '--until', '2099-01-01'], /does not limit microsMax/],
    [['--until', '2099-01-01'], /Give at least one of microsMax, tokensMax/],
    [['--tokens', '5000', '--until', '2020-01-01'], /a time that is not over/],
    [['--tokens', '5000'], /--until TIME/],
  ] as const) {
    match((await tryCli({ home }, 'budgets', 'raise', String(id), ...words)).stderr, said)
  }
})

test('tiers are listed and changed, and an organization is put into one', async () => {
  const { organizationId } = await run('organizations', 'create', '--name', 'Tiered')
  const tierOf = async () => (await list('organizations')).find(({ id }) => id === organizationId)?.['tier']
  equal(await tierOf(), 'tier-1')
  await run('tiers', 'assign', 'tier-3', '--organization', String(organizationId))
  equal(await tierOf(), 'tier-3')
  await run('tiers', 'set', 'tier-3', '--model', 'hal-1.0', '--input-tokens', '7')
  const tiers = await list('tiers')
  deepEqual(
    tiers.map(({ id, isEnforced }) => [id, isEnforced]),
    [...[1, 2, 3, 4].map((number) => [`tier-${number}`, true]), ['internal', false]],
  )
  const limits = tiers[2]?.['limits'] as readonly Fields[]
  deepEqual(
    limits.map(({ model, inputTokensPerMinute }) => [model, inputTokensPerMinute]),
    [
      ['clarke-1.0', 5_000_000],
      ['hal-1.0', 7],
      ['tycho-1.0', 5_000_000],
    ],
  )
  match(await runCli({ home }, 'tiers', 'list'), /^tier-3 +yes +hal-1\.0 +7 +- +- +no +- +10$/m)
  // The two stand in different chains, whose order is that of the organizations' random ids.
  deepEqual(
    new Set((await audited('tiers:')).map(({ action, target }) => `${String(action)} ${String(target)}`)),
    new Set([`tiers:assign ${String(organizationId)}`, 'tiers:set tier-3']),
  )
  for (const [words, said] of [
    [['assign', 'tier-9', '--organization', 'org_x'], /The tiers are tier-1, tier-2/],
    [['assign', 'tier-2'], /--organization ID/],
    [['assign', 'tier-2', '--organization', 'org_x'], /There is no such thing/],
    [['set', 'tier-2', '--requests', '5'], /--model MODEL/],
    [['set', 'tier-2', '--model', 'hal-1.0'], /Give at least one of/],
  ] as const) {
    match((await tryCli({ home }, 'tiers', ...words)).stderr, said)
  }
})

test('what is wrong is said, with an exit code for it, and leaves nothing', async () => {
  const rowsBefore = (await audited('')).length
  const wrong: readonly (readonly [number, RegExp, ...string[]])[] = [
    [2, /limits takes/, 'limits', 'raise'],
    [1, /Give at least one of inputTokensPerMinute/, 'limits', 'set'],
    [2, /--requests takes a whole number/, 'limits', 'set', '--requests', 'many'],
    [1, /requestsPerMinute must be a whole number from 1/, 'limits', 'set', '--requests', '0'],
    [1, /model must be one of/, 'limits', 'set', '--requests', '5', '--model', 'gpt-4'],
    [2, /not both/, 'limits', 'set', '--requests', '5', '--project', 'proj_default', '--key', 'key_x'],
    [2, /begins with key_/, 'limits', 'set', '--requests', '5', '--key', 'proj_default'],
    [1, /There is no such thing/, 'limits', 'set', '--requests', '5', '--key', 'key_none'],
    [1, /There is no such thing/, 'limits', 'remove', 'limit_none'],
    [2, /budgets takes/, 'budgets', 'lower'],
    [2, /--period takes day, week, month, year, lifetime/, 'budgets', 'set', '--amount', '5'],
    [2, /--amount takes an amount/, 'budgets', 'set', '--period', 'day', '--amount=-5'],
    [
      1,
      /alertPercents must be a whole number from 1 to 100/,
      'budgets',
      'set',
      '--period',
      'day',
      '--tokens',
      '5',
      '--alert-percent',
      '101',
    ],
    [1, /There is no such thing/, 'budgets', 'remove', 'budget_none'],
  ]
  for (const [exitCode, message, ...args] of wrong) {
    const end = await tryCli({ home }, ...args)
    equal(end.exitCode, exitCode, `${args.join(' ')}: ${end.stderr}`)
    match(end.stderr, message)
  }
  equal((await audited('')).length, rowsBefore)
})

test('a limit that is set beside a running service is in force there', async (t) => {
  const service = await startService()
  t.after(() => service.stop())
  const body = JSON.stringify({ model: 'hal-1.0', max_tokens: 4, messages: [{ role: 'user', content: 'x' }] })
  const headers = { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' }
  const generate = async () =>
    (await fetch(`${service.address}/v1/chat/completions`, { method: 'POST', headers, body })).status
  equal(await generate(), 200)
  const { id } = JSON.parse(await runCli(service, 'limits', 'set', '--input-tokens', '1', '--json')) as { id: string }
  await until(async () => (await generate()) === 429, 'the limit is in force')
  await runCli(service, 'limits', 'remove', id)
  await until(async () => (await generate()) === 200, 'the limit is gone')
})

test('what the config file says of prices and of answers over their limit is in force, beside a price that cannot be used', async (t) => {
  const config = { billing: { pricesRequired: true }, limits: { outputOverLimit: 'length' } }
  let service = await startService({ config })
  t.after(() => service.stop())
  const statusOf = async (model: string) =>
    (await ask(service, paths.chat, { body: bodyFor('chat', { model, max_tokens: 4 }) })).status
  equal(await statusOf('hal-1.0'), 403)
  await service.stop()
  const db = new DatabaseSync(join(service.home, 'odyssey.db'))
  const insert = db.prepare(
    `INSERT INTO prices (id, model, effective_at, currency, is_end, input, cache_read, cache_write_short, cache_write_long, output, created_at)
     VALUES (?, ?, 0, ?, 0, 1, 1, 1, 1, 1, 0)`,
  )
  insert.run('price_sound', 'hal-1.0', 'USD')
  insert.run('price_foreign', 'tycho-1.0', 'EUR')
  db.close()
  service = await service.restart()
  deepEqual(await Promise.all(['hal-1.0', 'tycho-1.0', 'clarke-1.0'].map(statusOf)), [200, 503, 403])
  const { id } = JSON.parse(await runCli(service, 'limits', 'set', '--output-tokens', '20', '--json')) as { id: string }
  type Answered = { usage: { completion_tokens: number }; choices: { finish_reason: string }[] }
  const cut = await until(async () => {
    const body = { ...longAnswerBody('chat'), model: 'hal-1.0', max_tokens: 400 }
    const answer = (await ask(service, paths.chat, { body })).json() as Answered
    return answer.usage.completion_tokens < 400 ? answer : null
  }, 'The limit is not in force.')
  equal(cut.choices[0]?.finish_reason, 'length')
  equal(cut.usage.completion_tokens <= 40, true, String(cut.usage.completion_tokens))
  await runCli(service, 'limits', 'remove', id)
})
