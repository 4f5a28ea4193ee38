import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import type { Transaction } from 'kysely'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { change, installationChain, joinTransaction } from './change.ts'
import { countChange } from './changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

const operator = { kind: 'operator' } as const
const action = { action: 'organizations:create', organizationId: 'org_1', target: 'org_1' } as const

onEachDatabase(({ open }) => {
  let db: Database
  beforeEach(async () => {
    db = await open()
  })
  afterEach(() => db.destroy())

  const clock = createManualClock()
  const count = async () => {
    const [organizations, audit] = [db.selectFrom('organizations'), db.selectFrom('audit')]
    return [(await organizations.selectAll().execute()).length, (await audit.selectAll().execute()).length]
  }
  const create = (id: 'org_1' | 'org_2') =>
    change({ db, clock }, operator, action, (transaction) =>
      transaction.insertInto('organizations').values({ id, name: 'One', created_at: clock.nowMs() }).execute(),
    )

  test('a change and its record are there together', async () => {
    await create('org_1')
    assert.deepEqual(await count(), [1, 1])
  })

  test('a change that fails leaves no record, one that throws afterwards no change', async () => {
    await create('org_1')
    await assert.rejects(create('org_1'))
    const fail = change({ db, clock }, operator, action, async (transaction) => {
      await transaction.insertInto('organizations').values({ id: 'org_2', name: 'Two', created_at: 1 }).execute()
      throw new Error('afterwards')
    })
    await assert.rejects(fail, /afterwards/)
    assert.deepEqual(await count(), [1, 1])
  })

  test('changes made at once are all made', async () => {
    const rename = (name: string) =>
      change({ db, clock }, operator, action, (transaction) =>
        transaction.updateTable('organizations').set({ name }).where('id', '=', 'org_1').execute(),
      )
    await create('org_1')
    await Promise.all(Array.from({ length: 20 }, (_, number) => rename(`Name ${number}`)))
    assert.deepEqual(await count(), [1, 21])
  })

  test('who changes something of an organization and then of their own, and who of their own alone, wait for each other and not for ever', async () => {
    const own = { action: 'agents:end', organizationId: installationChain, target: 'usr_1' } as const
    const work = async (transaction: Transaction<Tables>) => void (await countChange(transaction, 'access'))
    const join = () =>
      db.transaction().execute(async (transaction) => {
        const parts = { db: joinTransaction(transaction), clock }
        await change(parts, operator, action, work)
        await change(parts, operator, own, () => Promise.resolve())
      })
    const leave = () => change({ db, clock }, operator, own, work)
    const rounds = Array.from({ length: 20 }, () => [join(), leave()]).flat()
    for (const { status } of await Promise.allSettled(rounds)) assert.equal(status, 'fulfilled')
  })
})
