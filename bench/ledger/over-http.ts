// node bin/odyssey.cjs --run bench/ledger/over-http.ts [--rows N] [--rounds N]
//
// A service as it is started, with a large ledger: what a client waits for an answer that it asks for the first time
// and for the second, and for pages of the ledger, alone and while somebody looks for what is not there.

import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { rollUp } from '../../src/billing/usage/roll-up.ts'
import { startService, type Service } from '../../test/harness/start-service.ts'
import { runCli } from '../../test/harness/run-cli.ts'
import { busyPercent } from '../engine/busy.ts'
import { wholeNumber } from '../whole-number.ts'
import { ask, askMeanwhile, printHead } from './ask.ts'
import { dayMs, organizationCount } from './fill-ledger.ts'
import { fillKeptLedger, openToFill } from './kept-ledger.ts'

const type = 'string'
const { values } = parseArgs({ options: { rows: { type }, rounds: { type } } })
const rows = wholeNumber('rows', values.rows, 1_000_000)
const rounds = wholeNumber('rounds', values.rounds, 200)
/** Within the ten minutes in which a repeated body is looked for, all of them where filling takes no longer. */
const spanMs = 9 * 60_000

const first = await startService()
const managementKey = (
  JSON.parse(await runCli(first, 'management-keys', 'create', '--name', 'bench', '--role', 'owner', '--json')) as {
    key: string
  }
).key
await first.stop()
await fill(first.home)
const service = await first.restart()
try {
  console.log(`\n${rows} rows, the machine ${await busyPercent()} % busy before\n`)
  await measure(service)
} finally {
  await service.stop()
}

/** With nobody serving, and summed up: a service that is started on them would do that first. */
async function fill(home: string): Promise<void> {
  addOrganizations(join(home, 'odyssey.db'))
  const db = await openToFill({ home, databaseUrl: null })
  try {
    await fillKeptLedger(db, rows, spanMs)
    await rollUp(db)
  } finally {
    await db.destroy()
  }
}

/** Those of the rows, made like the service's own. */
function addOrganizations(path: string): void {
  const db = new DatabaseSync(path)
  const made = db.prepare('select * from organizations').get()!
  const columns = Object.keys(made)
  const insert = db.prepare(`insert into organizations (${columns.join()}) values (${columns.map(() => '?').join()})`)
  for (let number = 1; number <= organizationCount; number++) {
    const row = { ...made, id: `org_${number}`, name: `Organization ${number}` }
    insert.run(...columns.map((column) => (row as typeof made)[column]!))
  }
  db.close()
}

async function measure({ address, key }: Service): Promise<void> {
  const read = async (path: string) => {
    const response = await fetch(`${address}/api/v1/organizations/org_1${path}`, {
      headers: { authorization: `Bearer ${managementKey}` },
    })
    await answerOf(response)
  }
  let number = 0
  const askModel = async (retries: number) => {
    const messages = [{ role: 'user', content: `Question ${number} of ${rows} rows.` }]
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-stainless-retry-count': String(retries),
      },
      body: JSON.stringify({ model: 'tycho-1.0', messages, max_tokens: 1 }),
    })
    await answerOf(response)
  }
  printHead('over HTTP')
  const askNew = () => (number++, askModel(0))
  await ask('(to warm up)', rounds, askNew)
  await ask('an answer', rounds, askNew)
  number -= rounds
  await ask('the same bodies, as repetitions', rounds, () => (number++, askModel(1)))
  const reads = {
    'a page of requests': '/ledger?limit=100',
    'of a key': '/ledger?limit=100&apiKeyId=key_1_7',
    'of a model that nobody asked': '/ledger?limit=100&model=hal-1.0&apiKeyId=key_none',
    failed: '/ledger?limit=100&outcome=failed',
    'the overview': '/overview',
    'usage of a day by hour and model': `/usage/series?from=${daysFromNow(-1)}&to=${daysFromNow(1)}&bucket=hour&groupBy=model`,
  }
  for (const [name, path] of Object.entries(reads)) await ask(name, rounds, () => read(path))
  await ask('a search for a reason that nothing ended by', 5, () => read('/ledger?limit=100&reason=none'))
  const readAll = () => read('/ledger?limit=100&reason=none')
  await askMeanwhile('a page, while that is looked for', rounds, { query: () => read('/ledger?limit=100'), readAll })
  await askMeanwhile('an answer, while that is looked for', rounds, { query: askNew, readAll })
}

function daysFromNow(days: number): string {
  return new Date((Math.floor(Date.now() / dayMs) + days) * dayMs).toISOString()
}

async function answerOf(response: Response): Promise<void> {
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url} was answered ${response.status}: ${text}`)
}
