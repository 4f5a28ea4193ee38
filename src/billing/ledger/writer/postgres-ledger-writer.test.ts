import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresServer, type PostgresServer } from '../../../../scripts/postgres/start-server.ts'
import { ledgerRow } from '../../../../test/harness/databases/ledger-row.ts'
import { until } from '../../../../test/harness/start-service.ts'
import { sql } from 'kysely'
import type { Database } from '../../../db/database.ts'
import { connectPostgres, openPostgres } from '../../../db/open-postgres.ts'
import { openPostgresLedgerWriter } from './postgres-ledger-writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-write-ahead-'))
let server: PostgresServer
let db: Database
before(async () => {
  server = await startPostgresServer()
  db = await openPostgres(server.url)
})
after(async () => {
  await db.destroy()
  await server.stop()
  rmSync(folder, { recursive: true })
})

let filesFolder: string
let said: string[]
let lastNumber = 0
beforeEach(() => {
  filesFolder = mkdtempSync(join(folder, 'files-'))
  said = []
})

const report = {
  failed: (error: unknown, what: string) => void said.push(`${what} ${String(error)}`),
  recovered: () => {},
}

async function openWriter(context: TestContext, { url = server.url, bytesMax = 10_000_000 } = {}) {
  const own = connectPostgres(url, { connectionsMax: 2, statementTimeoutMs: 10_000 })
  const writer = await openPostgresLedgerWriter({ db: own, folder: filesFolder, report, bytesMax })
  let isClosed = false
  const close = async () => {
    if (!isClosed) await writer.close()
    isClosed = true
  }
  context.after(close)
  return { ...writer, close }
}

/** Rows that no other test has, and a look at which of them are in the database. */
function newRows(count: number) {
  const rows = Array.from({ length: count }, () => ledgerRow((lastNumber += 1)))
  const ids = rows.map(({ request_id: id }) => id as `req_${string}`)
  const written = async () => {
    const found = await db.selectFrom('ledger').select('request_id').where('request_id', 'in', ids).execute()
    return found.length
  }
  return { rows, ids, written }
}

const waitingFiles = () => readdirSync(filesFolder).filter((name) => name.endsWith('.rows'))

test('rows kept while the server is away are in it once each when it is back', async (context) => {
  const writer = await openWriter(context)
  const { rows, written } = newRows(1_000)
  const writing = rows.map(async (row, number) => {
    await new Promise((resolve) => setTimeout(resolve, number * 2))
    await writer.write([row])
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  await server.kill()
  await Promise.all(writing)
  assert.notDeepEqual(waitingFiles(), [])
  await server.restart()
  await until(() => waitingFiles().length === 0, 'The rows did not go back to PostgreSQL.')
  assert.equal(await written(), rows.length)
  const more = newRows(1)
  await writer.write(more.rows)
  assert.deepEqual([await more.written(), waitingFiles()], [1, []])
})

test('a server that hangs keeps only the first row waiting', async (context) => {
  const writer = await openWriter(context)
  const { rows, written } = newRows(30)
  const [first, ...others] = rows
  await server.freeze()
  try {
    await writer.write([first!])
    // All along what is kept is tried again, which takes until the server is given up.
    for (const row of others) {
      const waited = sleep(4_000, 'waits', { ref: false })
      assert.equal(await Promise.race([writer.write([row]).then(() => 'kept'), waited]), 'kept')
      await sleep(100)
    }
  } finally {
    server.thaw()
  }
  await until(() => waitingFiles().length === 0, 'The rows did not go to PostgreSQL.')
  assert.equal(await written(), rows.length)
})

test('the write-ahead files are replayed to the end while rows keep coming', async (context) => {
  const writer = await openWriter(context)
  let isOver = false
  let count = 0
  const load = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      count += 1
      await writer.write(newRows(1).rows)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })
  await server.kill()
  await until(() => waitingFiles().length > 0, 'Nothing was kept.')
  await server.restart()
  await until(() => waitingFiles().length === 0, 'It did not catch up under load.')
  isOver = true
  await Promise.all(load)
  const { rows } = await sql<{ count: number }>`select count(*) as count from ledger`.execute(db)
  assert.equal(rows[0]?.count, lastNumber)
  assert.ok(count > 10)
})

test('rows that an earlier run left are written first, also from a file with a torn end', async (context) => {
  const first = await openWriter(context)
  await server.kill()
  const { rows, written } = newRows(20)
  await first.write(rows)
  await first.close()
  const [name] = waitingFiles()
  appendFileSync(join(filesFolder, name ?? ''), '0123abcd {"request_id":"req_to')
  await server.restart()
  await openWriter(context)
  assert.deepEqual([await written(), waitingFiles()], [20, []])
})

test('a damaged line is kept and reported, and the other lines are written', async (context) => {
  const first = await openWriter(context)
  await server.kill()
  const { rows, written } = newRows(3)
  await first.write(rows)
  await first.close()
  const [name] = waitingFiles()
  appendFileSync(join(filesFolder, name ?? ''), '0123abcd {"request_id":"req_damaged"}\n')
  await server.restart()
  await openWriter(context)
  assert.equal(await written(), 3)
  assert.deepEqual(readdirSync(filesFolder), [`${name}.damaged`])
  assert.match(said.at(-1) ?? '', /1 lines are damaged/)
})

test('rows beyond the bound of the write-ahead files are refused until the server is back', async (context) => {
  const writer = await openWriter(context, { bytesMax: 100_000 })
  await server.kill()
  const { rows } = newRows(200)
  await assert.rejects(async () => {
    for (const row of rows) await writer.write([row])
  }, /may not grow beyond 100000/)
  assert.match(writer.fault()?.message ?? '', /may not grow/)
  await server.restart()
  await until(() => writer.fault() === null, 'The fault outlived the outage.')
  const more = newRows(1)
  await writer.write(more.rows)
  assert.equal(await more.written(), 1)
})

test('a commit whose answer is lost is made once', async (context) => {
  const proxy = await startProxy(server.url)
  context.after(() => proxy.close())
  const writer = await openWriter(context, { url: proxy.url })
  await writer.write(newRows(1).rows)
  const { rows, written } = newRows(50)
  proxy.swallowAnswers()
  const writing = writer.write(rows)
  await until(async () => (await written()) === 50, 'The rows did not reach the server.')
  proxy.cut()
  await writing
  await until(() => waitingFiles().length === 0, 'The rows did not go back to PostgreSQL.')
  assert.equal(await written(), 50)
})

test('a server that hangs does not keep the writer waiting for ever', async (context) => {
  const proxy = await startProxy(server.url)
  context.after(() => proxy.close())
  const writer = await openWriter(context, { url: proxy.url })
  await writer.write(newRows(1).rows)
  proxy.swallowAnswers()
  await writer.write(newRows(1).rows)
  await writer.write(newRows(1).rows)
  proxy.cut()
})

/** Passes bytes on, until it is told to keep the server's answers to itself or to cut all connections. */
async function startProxy(url: string) {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let isSwallowing = false
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    upstream.on('data', (bytes) => !isSwallowing && client.write(bytes))
    upstream.on('end', () => client.end())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = new URL(url)
  address.port = String((proxy.address() as AddressInfo).port)
  const cut = () => {
    isSwallowing = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: address.href,
    swallowAnswers: () => void (isSwallowing = true),
    cut,
    close: () => {
      cut()
      proxy.close()
    },
  }
}
