import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { createServer } from 'node:tls'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { makeCertificate } from '../../../test/harness/make-certificate.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { raise } from '../../alerts/append-event.ts'
import { installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { createLog } from '../../telemetry/log.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { createLook, tellCertificate } from './watch-signs.ts'

const dayMs = 86_400_000

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let home: string
  let seen: Parameters<Metrics['signsSeen']>[0][]
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    home = mkdtempSync(join(tmpdir(), 'odyssey-signs-'))
    seen = []
  })
  afterEach(async () => {
    rmSync(home, { recursive: true })
    await db.destroy()
  })

  const look = (publicUrl: string | null = null, own: Database = db) => {
    const metrics = { signsSeen: (signs: (typeof seen)[number]) => void seen.push(signs) }
    const config = { home, server: { publicUrl } } as Parameters<typeof createLook>[0]['config']
    return createLook({ db: own, clock, config, log: createLog('silent'), metrics })
  }
  const told = async () => {
    const rows = await db.selectFrom('alert_events').select(['topic', 'data']).orderBy('sequence').execute()
    return rows.map(({ topic, data }) => [topic, JSON.parse(data) as Record<string, unknown>] as const)
  }

  test('rows that wait in the data folder are counted, and told once they have grown three times in a row', async () => {
    const watch = look()
    await watch()
    equal(seen.at(-1)?.spoolBytes, 0)
    ok((seen.at(-1)?.diskBytesLeft ?? 0) > 0)
    mkdirSync(join(home, 'spool'))
    const path = join(home, 'spool', '1.rows')
    writeFileSync(path, 'x'.repeat(10))
    writeFileSync(join(home, 'spool', '1.rows.damaged'), 'x')
    await watch()
    await watch()
    for (let count = 0; count < 2; count += 1) {
      appendFileSync(path, 'y')
      await watch()
    }
    deepEqual(await told(), [])
    appendFileSync(path, 'y')
    await watch()
    await watch()
    deepEqual(
      (await told()).map(([topic, { bytes }]) => [topic, bytes]),
      [['spool.growing', 13]],
    )
    equal(seen.at(-1)?.spoolBytes, 13)
  })

  test('the numbers are there while the database is away, and what grew meanwhile is told when it is back', async () => {
    mkdirSync(join(home, 'spool'))
    const path = join(home, 'spool', '1.rows')
    let isAway = true
    const away = new Proxy(db, {
      get: (target, name) => {
        if (isAway) throw new Error('The database is away.')
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const watch = look(null, away)
    for (let count = 0; count < 3; count += 1) {
      appendFileSync(path, 'y')
      await watch().catch(() => {})
    }
    deepEqual([seen.at(-1)?.spoolBytes, seen.at(-1)?.isAuditBroken], [3, null])
    isAway = false
    await watch()
    deepEqual(
      (await told()).map(([topic]) => topic),
      ['spool.growing'],
    )
  })

  test('a certificate is told of at each of its times, once, and its end is seen although nobody vouches for it', async () => {
    const endsAtMs = Math.floor(Date.now() / 1_000) * 1_000 + 10 * dayMs
    const { key, certificate } = makeCertificate('localhost', endsAtMs)
    const server = createServer({ key, cert: certificate }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    await look(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)()
    server.close()
    equal(seen.at(-1)?.certificateEndsAtMs, endsAtMs)

    const publicUrl = 'https://ai.example.com'
    const at = clock.nowMs() + 20 * dayMs
    const days: unknown[] = []
    for (let day = 0; day <= 21; day += 1) {
      await tellCertificate({ db, clock }, { publicUrl, endsAtMs: at })
      clock.advance(dayMs)
    }
    for (const [topic, data] of await told())
      if (topic === 'certificate.ending' && data['publicUrl'] === publicUrl) days.push(data['withinDays'])
    deepEqual(days, [14, 3, 0])
  })

  test('an audit that was found broken is seen for a day and no longer', async () => {
    const watch = look()
    await watch()
    equal(seen.at(-1)?.isAuditBroken, false)
    const topic = 'audit.broken'
    await raise({ db, clock }, { organizationId: installationChain, topic, cause: 'x', windowMs: null, data: {} })
    await watch()
    equal(seen.at(-1)?.isAuditBroken, true)
    clock.advance(2 * dayMs)
    await watch()
    equal(seen.at(-1)?.isAuditBroken, false)
  })
})
