import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { onEachDatabase } from '../../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../../test/harness/databases/ledger-row.ts'
import { openDatabase } from '../../../db/open-database.ts'
import { RowFault } from './group-commit.ts'
import { openLedgerWriter } from './open-ledger-writer.ts'

const report = { failed: (error: unknown) => assert.fail(String(error)), recovered: () => {} }

onEachDatabase(({ createLocation }) => {
  const openBoth = async (context: TestContext) => {
    const location = await createLocation()
    const db = await openDatabase(location)
    const writer = await openLedgerWriter(location, report)
    const ids = async () =>
      (await db.selectFrom('ledger').select('request_id').orderBy('sequence').execute()).map((row) => row.request_id)
    context.after(async () => {
      await writer.close()
      await db.destroy()
    })
    return { db, writer, ids }
  }

  test('rows that arrive together are all written, in their order, each once', async (context) => {
    const { writer, ids } = await openBoth(context)
    const numbers = Array.from({ length: 1_201 }, (_, number) => number)
    await Promise.all(numbers.map((number) => writer.write([ledgerRow(number)])))
    assert.deepEqual(
      await ids(),
      numbers.map((number) => `req_${number}`),
    )
  })

  test('a ledger row that is there stays as it is', async (context) => {
    const { db, writer } = await openBoth(context)
    await writer.write([ledgerRow(1)])
    await writer.write([ledgerRow(1), ledgerRow(2)])
    // SQLite refuses it aloud, PostgreSQL drops it.
    await writer.write([{ ...ledgerRow(1), outcome: 'failed' }]).catch(() => {})
    const rows = await db.selectFrom('ledger').select('outcome').orderBy('sequence').execute()
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['finished', 'finished'],
    )
  })

  test('a row that cannot be stored is refused alone, and is no fault of the storage', async (context) => {
    const { writer, ids } = await openBoth(context)
    const broken = { ...ledgerRow(2), model: null as unknown as string }
    const written = await Promise.allSettled([ledgerRow(1), broken, ledgerRow(3)].map((row) => writer.write([row])))
    assert.deepEqual(
      written.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.ok(written[1]?.status === 'rejected' && written[1].reason instanceof RowFault)
    assert.equal(writer.fault(), null)
    assert.deepEqual(await ids(), ['req_1', 'req_3'])
  })

  test('closing waits for what is being written', async (context) => {
    const { writer, ids } = await openBoth(context)
    const written = writer.write([ledgerRow(1)])
    await writer.close()
    await written
    assert.deepEqual(await ids(), ['req_1'])
  })
})
