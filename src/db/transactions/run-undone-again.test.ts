import { equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { openMemoryDatabase } from '../../../test/harness/databases/memory-database.ts'
import { runUndoneAgain } from './run-undone-again.ts'

const undone = () => Object.assign(new Error('deadlock detected'), { code: '40P01' })

test('a database is wrapped once, and what was wrapped is run no more often than three times', async () => {
  const db = await openMemoryDatabase()
  const repeating = runUndoneAgain(db)
  equal(runUndoneAgain(db), repeating)
  equal(runUndoneAgain(repeating), repeating)
  let tries = 0
  const transaction = runUndoneAgain(repeating).transaction()
  await rejects(
    transaction.execute(() => {
      tries += 1
      return Promise.reject(undone())
    }),
    { code: '40P01' },
  )
  equal(tries, 3)
  await db.destroy()
})

test('a transaction that was told how to run is run again like that', async () => {
  const db = await openMemoryDatabase()
  let tries = 0
  const result = await runUndoneAgain(db)
    .transaction()
    .setIsolationLevel('serializable')
    .execute(() => {
      tries += 1
      return tries < 3 ? Promise.reject(undone()) : Promise.resolve('done')
    })
  equal(result, 'done')
  await db.destroy()
})
