import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { until } from '../../test/harness/start-service.ts'
import { systemClock } from '../lib/clock.ts'
import { createChangeFeed, type ChangeFeed, type News } from './change-feed.ts'
import { countChange } from './changes.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open-database.ts'
import type { Topic } from './tables/changes.ts'

onEachDatabase(({ name, createLocation }) => {
  let db: Database
  let databaseUrl: string | null
  let clock: ManualClock
  const feeds: ChangeFeed[] = []
  beforeEach(async () => {
    const location = await createLocation()
    db = await openDatabase(location)
    databaseUrl = location.databaseUrl
    clock = createManualClock()
  })
  afterEach(async () => {
    for (const feed of feeds.splice(0)) await feed.close()
    await db.destroy()
  })

  const change = (topic: Topic) => db.transaction().execute((transaction) => countChange(transaction, topic))
  function hear(feed: ChangeFeed, topic: Topic): News[] {
    const news: News[] = []
    feeds.push(feed)
    feed.subscribe(topic, (heard) => void news.push(heard))
    return news
  }

  test('a change is heard of when the counters are next read, by those it concerns', async () => {
    const feed = createChangeFeed({ db, clock, readEveryMs: 500, listenUrl: null, onFailure() {} })
    const [limits, prices] = [hear(feed, 'limits'), hear(feed, 'prices')]
    await until(() => limits.length === 1, 'The counters were not read at the start.')
    await change('limits')
    clock.advance(500)
    await until(() => limits.length === 2, 'The counters were not read again.')
    deepEqual(limits, [
      { counter: 0, readAtMs: 0 },
      { counter: 1, readAtMs: 500 },
    ])
    deepEqual(
      prices.map(({ counter }) => counter),
      [0, 0],
    )
    deepEqual(await feed.read(), { access: 0, limits: 1, prices: 0 })
  })

  test('a change that is undone is not counted', async () => {
    const undone = db.transaction().execute(async (transaction) => {
      await countChange(transaction, 'access')
      throw new Error('undone')
    })
    await undone.catch(() => {})
    equal(await change('access'), 1)
  })

  test('a database that is away is reported once, and heard of again when it is back', async () => {
    let isAway = true
    let failures = 0
    const faulty = db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(result)),
    })
    const onFailure = () => (failures += 1)
    const feed = createChangeFeed({ db: faulty, clock, readEveryMs: 500, listenUrl: null, onFailure })
    const news = hear(feed, 'access')
    await until(() => failures === 1, 'The failure was not reported.')
    for (let turn = 0; turn < 3; turn += 1) {
      clock.advance(500)
      await db.selectFrom('changes').selectAll().execute()
    }
    isAway = false
    await until(() => {
      clock.advance(500)
      return news.length > 0
    }, 'The database was not read again.')
    equal(failures, 1)
  })

  if (name !== 'PostgreSQL') return

  test('PostgreSQL tells of a change without being asked', async () => {
    const options = { db, clock: systemClock, readEveryMs: 600_000, onFailure() {} }
    const feed = createChangeFeed({ ...options, listenUrl: databaseUrl })
    const news = hear(feed, 'prices')
    await until(() => news.length === 2, 'It does not listen.')
    await change('limits')
    await change('prices')
    await until(() => news.length === 3, 'It was not told.')
    deepEqual(news.at(-1), { counter: 1, readAtMs: null })
  })
})
