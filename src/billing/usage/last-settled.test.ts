import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { lastSettled } from './last-settled.ts'

onEachDatabase((database) => {
  let db: Database
  beforeEach(async () => {
    db = await database.open()
  })
  afterEach(() => db.destroy())

  const insert = (by: Database, number: number) => by.insertInto('ledger').values(ledgerRow(number)).execute()
  const sequences = async () => {
    const rows = await db.selectFrom('ledger').select('sequence').orderBy('sequence').execute()
    return rows.map(({ sequence }) => Number(sequence))
  }

  test('the last number is 0 where there is no row, and that of the last row where nobody writes', async () => {
    equal(await lastSettled(db), 0)
    await insert(db, 1)
    await insert(db, 2)
    equal(await lastSettled(db), Math.max(...(await sequences())))
  })

  test('it waits for a writer that has a smaller number, and no other writer waits meanwhile', async () => {
    if (!isPostgres(db)) return
    const [written, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = db.transaction().execute(async (transaction) => {
      await insert(transaction, 1)
      written.resolve()
      await mayEnd.promise
    })
    await written.promise
    await insert(db, 2)
    let isSettled = false
    const settling = lastSettled(db).then((last) => {
      isSettled = true
      return last
    })
    // These would never end behind one who waits with a lock.
    for (const number of [3, 4, 5]) await insert(db, number)
    deepEqual([isSettled, await sequences()], [false, [2, 3, 4, 5]])
    mayEnd.resolve()
    await slow
    // Which of the others were there when it looked is a race of connections.
    ok([2, 3, 4, 5].includes(await settling))
    deepEqual(await sequences(), [1, 2, 3, 4, 5])
  })

  test('what it names is complete, however many write at once', async () => {
    if (!isPostgres(db)) return
    let number = 0
    let isOver = false
    const writer = async () => {
      while (number < 300) {
        const own = (number += 1)
        await db.transaction().execute(async (transaction) => {
          await insert(transaction, own)
          if (own % 3 === 0) await transaction.selectFrom('prices').selectAll().execute()
        })
      }
    }
    const reader = async () => {
      while (!isOver) {
        const last = await lastSettled(db)
        const upTo = (await sequences()).filter((sequence) => sequence <= last)
        const again = (await sequences()).filter((sequence) => sequence <= last)
        deepEqual(again, upTo, 'a row came later')
      }
    }
    const reading = [reader(), reader()]
    await Promise.all(Array.from({ length: 5 }, writer))
    isOver = true
    await Promise.all(reading)
  })
})
