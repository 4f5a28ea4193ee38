// The commands for limits and budgets, beside a running service and without one.

import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, until } from '../harness/start-service.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-limits-'))
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
  const unsaid = { ...nothing, isRequestsEnforced: false, cachedReadPercent: 10, organizationId, model: '*' }
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
  match(lines[2] ?? '', new RegExp(`^${String(projectId)} +hal-1\\.0 +- +- +- +4 +10 % +${String(ofProject['id'])}$`))
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
  const month = await run('budgets', 'set', '--period', 'month', '--amount', '50.25', '--alert-percent', '80')
  const day = await run('budgets', 'set', '--period', 'day', '--tokens', '1000000', '--project', 'proj_default')
  const budgets = await list('budgets')
  deepEqual(
    budgets.map(({ id, period, microsMax, tokensMax, alertPercent, spent }) => [
      id,
      period,
      microsMax,
      tokensMax,
      alertPercent,
      spent,
    ]),
    [
      [month['id'], 'month', 50_250_000, null, 80, { micros: 0, tokens: 0 }],
      [day['id'], 'day', null, 1_000_000, null, { micros: 0, tokens: 0 }],
    ],
  )
  const [starts, ends] = ['periodStartsAt', 'periodEndsAt'].map((name) => Date.parse(String(budgets[1]?.[name])))
  equal((ends ?? 0) - (starts ?? 0), 86_400_000)
  match(await runCli({ home }, 'budgets', 'list'), /^org_default +month +0\.000000 +50\.250000 +0 +- +80 % /m)
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
    [2, /budgets takes/, 'budgets', 'raise'],
    [2, /--period takes day or month/, 'budgets', 'set', '--amount', '5'],
    [2, /--amount takes an amount/, 'budgets', 'set', '--period', 'day', '--amount=-5'],
    [
      1,
      /alertPercent must be a whole number from 1 to 100/,
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

test('a limit that is set beside a running service is in force there', async () => {
  const service = await startService()
  after(() => service.stop())
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
