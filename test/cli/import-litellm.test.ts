// Moving from LiteLLM: an export of its tables, or its database, becomes organizations, projects, keys, limits and
// budgets, and keys that clients have go on working.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Client } from 'pg'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { createPostgresDatabase } from '../harness/databases/shared-postgres.ts'
import { ask, bodyFor, paths, type Format } from '../harness/http/ask.ts'
import { runCli, tryCli } from '../harness/run-cli.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

/** Keys as LiteLLM makes them: `sk-` and 16 random bytes in 22 characters. */
const keys = {
  search: 'sk-pXk9Tn2vQ0eJr4_aZb7LcA',
  blocked: 'sk-Y1hQ6wRt8uSx3zDfGk5NmQ',
  expired: 'sk-aaaaaaaaaaaaaaaaaaaaaa',
  loose: 'sk-zT5-JwqL8nVbC2xKdRf0Sg',
  embedding: 'sk-eeeeeeeeeeeeeeeeeeeeee',
  ofBlockedTeam: 'sk-bbbbbbbbbbbbbbbbbbbbbb',
  beta: 'sk-Uu7GgHh1Jj2Kk3Ll4Mm5Nn',
}
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')
const tokenRow = (key: string, fields: Readonly<Record<string, unknown>>) => ({
  token: hashOf(key),
  key_name: `sk-...${key.slice(-4)}`,
  key_alias: null,
  soft_budget_cooldown: false,
  spend: 0,
  expires: null,
  models: [],
  aliases: {},
  config: {},
  user_id: 'default_user_id',
  team_id: null,
  permissions: {},
  max_parallel_requests: null,
  metadata: {},
  blocked: null,
  tpm_limit: null,
  rpm_limit: null,
  max_budget: null,
  budget_duration: null,
  budget_reset_at: null,
  allowed_cache_controls: [],
  allowed_routes: [],
  model_spend: {},
  model_max_budget: {},
  budget_id: null,
  organization_id: null,
  created_at: '2026-01-05T09:12:44.101',
  rotation_count: 0,
  ...fields,
})

const tokens = [
  tokenRow(keys.search, {
    key_alias: 'search-prod',
    team_id: 'team-search',
    models: ['gpt-4o', 'text-embedding-3-small'],
    rpm_limit: 600,
    tpm_limit: 100_000,
    max_budget: 50,
    budget_duration: '30d',
    spend: 12.5,
    expires: '2036-12-31T00:00:00',
    metadata: { model_rpm_limit: { 'gpt-4o': 30 }, tags: ['prod'] },
  }),
  tokenRow(keys.blocked, { key_alias: 'left over', team_id: 'team-search', blocked: true }),
  tokenRow(keys.expired, { key_alias: 'trial', expires: '2026-02-01T00:00:00' }),
  tokenRow(keys.loose, { max_budget: 100, spend: 60.25, budget_id: 'budget-small' }),
  tokenRow(keys.embedding, { key_alias: 'embeddings', models: ['text-embedding-3-small'] }),
  tokenRow(keys.ofBlockedTeam, { key_alias: 'old team', team_id: 'team-closed' }),
  tokenRow(keys.beta, {
    key_alias: 'beta',
    team_id: 'team-search',
    models: ['beta-models'],
    allowed_routes: ['anthropic_routes'],
    max_budget: 5,
    budget_duration: '14d',
  }),
  tokenRow('sk-a-session-of-the-pages', { key_alias: null, team_id: 'litellm-dashboard' }),
  { ...tokenRow('', { key_alias: 'in the clear' }), token: 'not-a-hash' },
]

/** As `\copy … csv header` writes it. */
const teamsCsv = `team_id,team_alias,organization_id,admins,members,members_with_roles,metadata,max_budget,soft_budget,spend,models,max_parallel_requests,tpm_limit,rpm_limit,budget_duration,budget_reset_at,blocked,created_at,updated_at,model_spend,model_max_budget
team-search,"Search, and more",org-acme,{},{},"[{""role"": ""admin"", ""user_id"": ""u1""}]",{},500,400,73.1,"{gpt-4o,""gpt-4o mini"",text-embedding-3-small,o3-mini}",20,,,1mo,2026-12-01 00:00:00,f,2026-01-05 09:12:44.101,2026-01-05 09:12:44.101,{},{}
team-closed,Closed,,{},{},[],{},,,0,{},,,,,,t,2026-01-05 09:12:44.101,2026-01-05 09:12:44.101,{},{}
`
const organizations = [
  {
    organization_id: 'org-acme',
    organization_alias: 'Acme',
    budget_id: 'budget-acme',
    metadata: {},
    models: [],
    spend: 80,
    model_spend: {},
    created_by: 'default_user_id',
  },
]
const budgets = [
  { budget_id: 'budget-acme', max_budget: 2_000, soft_budget: null, rpm_limit: 3_000, budget_duration: '1mo' },
  { budget_id: 'budget-small', max_budget: 1, rpm_limit: 10, max_parallel_requests: 2, budget_duration: null },
]
const models = [{ model_id: 'm1', model_name: 'o3-mini', model_info: { id: 'm1', access_groups: ['beta-models'] } }]
const projectRows = [
  {
    project_id: 'p1',
    project_alias: 'Ranking',
    team_id: 'team-search',
    budget_id: 'budget-small',
    models: [],
    blocked: false,
  },
]
const users = [{ user_id: 'u1', user_email: 'ann@acme.example', max_budget: 10, models: [], spend: 0 }]

const configYaml = `model_list:
  - model_name: gpt-4o
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: https://acme.openai.azure.com/
      api_key: os.environ/AZURE_API_KEY
      rpm: 480
  - model_name: gpt-4o mini
    litellm_params: { model: openai/gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY }
  - model_name: text-embedding-3-small
    litellm_params: { model: openai/text-embedding-3-small }
    model_info: { mode: embedding }
litellm_settings: { drop_params: true, success_callback: [prometheus] }
router_settings: { routing_strategy: least-busy }
general_settings: { master_key: os.environ/LITELLM_MASTER_KEY }
`

const folder = mkdtempSync(join(tmpdir(), 'odyssey-litellm-'))
const exported = join(folder, 'config.yaml')
writeFileSync(exported, configYaml)
writeFileSync(join(folder, 'models.yaml'), 'gpt-4o: clarke-1.0\n"gpt-4o mini": tycho-1.0\no3-mini: hal-1.0\n')
writeFileSync(join(folder, 'LiteLLM_VerificationToken.jsonl'), tokens.map((row) => `${JSON.stringify(row)}\n`).join(''))
writeFileSync(join(folder, 'LiteLLM_TeamTable.csv'), teamsCsv)
const jsonTables = {
  LiteLLM_OrganizationTable: organizations,
  LiteLLM_BudgetTable: budgets,
  LiteLLM_ProjectTable: projectRows,
  LiteLLM_ProxyModelTable: models,
  LiteLLM_UserTable: users,
}
for (const [table, rows] of Object.entries(jsonTables)) {
  writeFileSync(join(folder, `${table}.json`), JSON.stringify(rows))
}
after(() => rmSync(folder, { recursive: true }))

const guide = readFileSync(join(import.meta.dirname, '../../docs/operations/litellm.md'), 'utf8')
const source = ['--export', folder, '--config', exported, '--models', join(folder, 'models.yaml')]

type Made = { readonly name: string; readonly id: string; readonly isNew: boolean }
type Report = {
  readonly isApplied: boolean
  readonly organizations: readonly Made[]
  readonly projects: readonly Made[]
  readonly keys: readonly Made[]
  readonly limits: number
  readonly budgets: number
}

onEachDatabase((database) => {
  let service: Service
  let environment: Record<string, string>
  const cli = (...args: string[]) => runCli({ home: service.home, environment }, ...args)
  const move = async (...args: string[]) =>
    JSON.parse(await cli('import', 'litellm', ...source, '--json', ...args)) as Report
  const read = async (...args: string[]) => JSON.parse(await cli(...args, '--json')) as Record<string, unknown>[]
  /** How much there is of what a move makes, with the length of the audit. */
  const counts = async () => {
    const audit = (await cli('audit', 'export')).trimEnd().split('\n').length
    return {
      organizations: (await read('organizations', 'list')).length,
      keys: (await read('keys', 'list')).length,
      audit,
    }
  }
  const statusOf = async (key: string, format: Format, model = 'clarke-1.0') =>
    (await ask(service, paths[format], { key, body: bodyFor(format, { model, max_tokens: 2 }) })).status

  before(async () => {
    const { databaseUrl } = await database.createLocation()
    environment = databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }
    service = await startService({ environment })
  })
  after(() => service.stop())

  test('a trial says what would be made and what not, and makes nothing', async () => {
    const before = await counts()
    const said = await cli('import', 'litellm', ...source)
    for (const line of [
      'This would be made; --apply makes it.',
      '  gpt-4o becomes clarke-1.0',
      '  text-embedding-3-small has no counterpart here',
      '  Acme: 3000 requests/min; 2000.000000 in a month',
      '  Search, and more: 20 at a time; 500.000000 in a month',
      '  search-prod (…7LcA): clarke-1.0; 600 requests/min, 100000 tokens/min each way; 30 requests/min of clarke-1.0; ',
      '  key trial: is left out: it has ended on 2026-02-01',
      '  key embeddings: is left out: none of its models has a counterpart here',
      '  key in the clear: is left out: it does not begin with sk-',
      '  key beta: its budget is for 14d there and for a month here, of the same amount',
      '  users (1): not made here',
      '  general_settings.master_key: make a management key',
    ]) {
      ok(said.includes(`\n${line}`) || said.startsWith(line), `${line} is not in:\n${said}`)
    }
    ok(!said.includes(hashOf(keys.search)))
    deepEqual(await counts(), before)
    equal(await statusOf(keys.search, 'chat'), 401)
  })

  test('what is applied lets the keys of LiteLLM in over both wire formats, as far as they went there', async () => {
    const { isApplied, organizations: made, projects, keys: moved, limits, budgets: spent } = await move('--apply')
    equal(isApplied, true)
    deepEqual(
      made.map(({ name }) => name),
      ['Acme'],
    )
    deepEqual(
      projects.map(({ name }) => name),
      ['Search, and more', 'Closed'],
    )
    deepEqual(
      moved.map(({ name }) => name),
      ['search-prod', 'left over', 'sk-...f0Sg', 'old team', 'beta'],
    )
    deepEqual([limits, spent], [5, 5])
    await until(async () => (await statusOf(keys.search, 'chat')) === 200, 'The key did not become known.')
    equal(await statusOf(keys.search, 'messages'), 200)
    equal(
      (
        await ask(service, '/v1/messages', {
          key: null,
          headers: { 'x-api-key': keys.search },
          body: bodyFor('messages'),
        })
      ).status,
      200,
    )
    equal(await statusOf(keys.search, 'chat', 'hal-1.0'), 403)
    equal(await statusOf(keys.loose, 'messages', 'tycho-1.0'), 200)
    equal(await statusOf(keys.beta, 'messages', 'hal-1.0'), 200)
    equal(await statusOf(keys.beta, 'chat', 'hal-1.0'), 403)
    equal(await statusOf(keys.ofBlockedTeam, 'chat'), 403)
    for (const key of [keys.blocked, keys.expired, keys.embedding, hashOf(keys.search), `${keys.search}x`]) {
      equal(await statusOf(key, 'chat'), 401, key)
    }
  })

  test('limits, budgets and ends are those that the key had', async () => {
    const [acme] = (await read('organizations', 'list')).filter(({ name }) => name === 'Acme')
    const inIt = ['--organization', String(acme?.['id'])]
    const key = (await read('keys', 'list', ...inIt)).find(({ name }) => name === 'search-prod')
    deepEqual(key?.['rules'], {
      expiresAtMs: Date.UTC(2036, 11, 31),
      models: ['clarke-1.0'],
      endpoints: null,
      addresses: null,
      priority: null,
    })
    equal(key?.['lastFour'], keys.search.slice(-4))
    const of = (things: readonly Record<string, unknown>[]) =>
      things.filter(({ subject }) => (subject as { readonly id: string }).id === key?.['id'])
    deepEqual(
      of(await read('limits', 'list', ...inIt))
        .toSorted((one, other) => String(one['model']).localeCompare(String(other['model'])))
        .map(({ model, requestsPerMinute, isRequestsEnforced, inputTokensPerMinute }) => {
          return { model, requestsPerMinute, isRequestsEnforced, inputTokensPerMinute }
        }),
      [
        { model: '*', requestsPerMinute: 600, isRequestsEnforced: true, inputTokensPerMinute: 100_000 },
        { model: 'clarke-1.0', requestsPerMinute: 30, isRequestsEnforced: true, inputTokensPerMinute: null },
      ],
    )
    const [budget] = of(await read('budgets', 'list', ...inIt))
    deepEqual([budget?.['period'], budget?.['microsMax']], ['month', 50_000_000])
    // What is spent of a budget for ever is taken off, and a budget that is named counts where the key has none.
    const loose = (await read('budgets', 'list')).find(({ period }) => period === 'lifetime')
    equal(loose?.['microsMax'], 39_750_000)
    match(await cli('audit', 'export', ...inIt), /"api-keys:import".*search-prod/)
  })

  test('a second move changes nothing, also of what was changed here since', async () => {
    const before = await counts()
    const again = await move('--apply')
    for (const { name, isNew } of [...again.organizations, ...again.projects, ...again.keys]) equal(isNew, false, name)
    deepEqual([again.limits, again.budgets], [0, 0])
    deepEqual(await counts(), before)
    const loose = again.keys.find(({ name }) => name === 'sk-...f0Sg')?.id ?? ''
    await cli('keys', 'revoke', loose)
    await move('--apply')
    await until(async () => (await statusOf(keys.loose, 'chat', 'tycho-1.0')) === 401, 'A revoked key came back.')
  })

  test('a key that was moved can be rotated, and its successor is one of ours', async () => {
    const [acme] = (await read('organizations', 'list')).filter(({ name }) => name === 'Acme')
    const inIt = ['--organization', String(acme?.['id'])]
    const { id } = (await read('keys', 'list', ...inIt)).find(({ name }) => name === 'search-prod') ?? {}
    const rotated = JSON.parse(await cli('keys', 'rotate', String(id), ...inIt, '--json')) as { readonly key: string }
    match(rotated.key, /^sk-ody-/)
    await until(async () => (await statusOf(rotated.key, 'chat')) === 200, 'The new key does not work.')
    await until(async () => (await statusOf(keys.search, 'chat')) === 401, 'The old key still works.')
  })

  if (database.name === 'PostgreSQL') {
    test('the database of a LiteLLM is read as its export is, and is not changed', async (context) => {
      const { url, drop } = await createPostgresDatabase('nothing')
      context.after(drop)
      const client = new Client({ connectionString: url })
      await client.connect()
      const columns = Object.entries(tokens[0] ?? {}).map(([name, value]) => {
        if (Array.isArray(value)) return `"${name}" text[]`
        if (['tpm_limit', 'rpm_limit'].includes(name)) return `"${name}" bigint`
        if (['spend', 'max_budget', 'max_parallel_requests', 'rotation_count'].includes(name)) return `"${name}" float`
        if (['expires', 'created_at', 'budget_reset_at'].includes(name)) return `"${name}" timestamp(3)`
        if (['blocked', 'soft_budget_cooldown'].includes(name)) return `"${name}" boolean`
        return `"${name}" ${typeof value === 'object' && value !== null ? 'jsonb' : 'text'}`
      })
      await client.query(`create table "LiteLLM_VerificationToken" (${columns.join(', ')})`)
      const insert = `insert into "LiteLLM_VerificationToken" select * from jsonb_populate_recordset(null::"LiteLLM_VerificationToken", $1)`
      await client.query(insert, [JSON.stringify(tokens)])
      // The statement of the guide gives the rows that the import reads.
      const [, statement = ''] = /-c "(select .*?t)" /.exec(guide) ?? []
      const { rows } = await client.query({
        text: statement.replaceAll('\\"', '"').replace('$table', 'LiteLLM_VerificationToken'),
        rowMode: 'array',
      })
      equal(rows.length, tokens.length)
      await client.end()
      const target = { home: service.home, environment: { ...environment, LITELLM_DATABASE_URL: url } }
      const args = ['--database-variable', 'LITELLM_DATABASE_URL', '--model', 'gpt-4o=clarke-1.0', '--json']
      const report = JSON.parse(await runCli(target, 'import', 'litellm', ...args)) as Report
      deepEqual([report.isApplied, report.keys.length], [false, 4])
      equal(
        report.keys.every(({ isNew }) => !isNew),
        true,
      )
    })
  }
})

test('teams may become organizations, and projects of LiteLLM projects in them', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-litellm-home-'))
  context.after(() => rmSync(home, { recursive: true }))
  const said = await runCli({ home }, 'import', 'litellm', ...source, '--teams', 'organizations', '--apply')
  match(said, /\nOrganizations\n {2}Search, and more: .*\n {2}Closed: blocked\n/)
  match(said, /\nProjects\n {2}Ranking: 10 requests\/min, 2 at a time; 1\.000000 in a lifetime\n/)
  match(said, /organization Acme: its teams become organizations/)
  const list = JSON.parse(await runCli({ home }, 'organizations', 'list', '--json')) as Record<string, unknown>[]
  equal(list.find(({ name }) => name === 'Closed')?.['disabledAtMs'] === null, false)
})

test('the commands of the guide do what it says', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-litellm-home-'))
  context.after(() => rmSync(home, { recursive: true }))
  const commands = [...guide.matchAll(/^npx odyssey (import litellm .*--export.*)$/gm)].map(([, words = '']) => words)
  equal(commands.length, 2)
  for (const words of commands) {
    const args = words.split(' ').map((word) => word.replace(/^litellm-export$/, folder))
    const said = await runCli({ home }, ...args.map((word) => (word.endsWith('.yaml') ? join(folder, word) : word)))
    match(said, words.includes('--apply') ? /^This is made\./ : /^This would be made/)
  }
})

test('an export that cannot be read is refused with the place, and nothing is made', async (context) => {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-litellm-home-'))
  const damaged = mkdtempSync(join(tmpdir(), 'odyssey-litellm-damaged-'))
  context.after(() => [home, damaged].forEach((one) => rmSync(one, { recursive: true })))
  const run = (...args: string[]) => tryCli({ home }, 'import', 'litellm', ...args)
  match((await run('--export', damaged)).stderr, /has no keys: it needs LiteLLM_VerificationToken/)
  writeFileSync(join(damaged, 'LiteLLM_VerificationToken.json'), JSON.stringify([{ ...tokens[0], rpm_limit: 'many' }]))
  match((await run('--export', damaged)).stderr, /^LiteLLM_VerificationToken, row 1: rpm_limit cannot be read\./)
  writeFileSync(join(damaged, 'LiteLLM_VerificationToken.json'), '[{')
  match((await run('--export', damaged)).stderr, /LiteLLM_VerificationToken\.json cannot be read: /)
  const config = join(damaged, 'config.yaml')
  writeFileSync(config, 'root:x:0:0:root:/root:/bin/bash\n')
  match(
    (await run('--config', config)).stderr,
    /^\S+ is no config\.yaml of LiteLLM’s: it must be a mapping, with model_list/,
  )
  writeFileSync(config, 'model_list: all')
  match((await run('--config', config)).stderr, /config\.yaml of LiteLLM’s: model_list cannot be read\.$/m)
  match((await run('--export', folder, '--model', 'gpt-4o=gpt-5')).stderr, /^There is no model gpt-5 here/)
  match((await run()).stderr, /^This needs --export FOLDER/)
})
