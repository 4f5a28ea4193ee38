import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { addAuditRows } from '../../../test/harness/databases/audit-rows.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { signCheckpoint } from '../../accounts/transparency/sign-checkpoints.ts'
import { installationChain } from '../../db/change.ts'
import { createLog } from '../../telemetry/log.ts'
import { keepDeleting, openSigning } from './audit-anchors.ts'

const dayMs = 86_400_000

onEachDatabase((database) => {
  test('a sink that is away for good holds old rows up, which its organization and the installation are told once a day', async () => {
    const db = await database.open()
    const clock = createManualClock()
    const home = mkdtempSync(join(tmpdir(), 'odyssey-held-'))
    const config = { home, audit: { daysMax: 30, signer: null, logName: 'log.example' }, server: { publicUrl: null } }
    const settings = config as unknown as Parameters<typeof keepDeleting>[1]
    try {
      await addAuditRows({ db, clock }, 'org_tested', 5)
      await signCheckpoint({ db, clock }, await openSigning(settings, { db, clock }), 'org_tested')
      const sink = {
        id: 'sink_1',
        organization_id: 'org_tested',
        kind: 'webhook',
        format: 'json',
        name: 'siem',
      } as const
      const untried = {
        failures: 9,
        next_attempt_at: 0,
        last_error: 'away',
        last_delivered_at: null,
        disabled_at: null,
      }
      const unleased = { lease_holder: null, lease_until: 0, sealed: '', shown_target: 'siem', is_configured: 0 }
      await db
        .insertInto('audit_sinks')
        .values({ ...sink, ...untried, ...unleased, created_at: 0 })
        .execute()
      const runOnce = async () => {
        await keepDeleting({ db, clock }, settings, createLog('silent'))()
        const rows = await db
          .selectFrom('alert_events')
          .select(['organization_id', 'topic', 'data'])
          .orderBy('organization_id')
          .execute()
        return rows.map(({ organization_id: told, topic, data }) => [told, topic, JSON.parse(data) as unknown])
      }
      clock.advance(10 * dayMs)
      deepEqual(await runOnce(), [])
      clock.advance(21 * dayMs)
      const data = { organizationId: 'org_tested', rows: 5, sinks: ['siem'] }
      const both = [
        [installationChain, 'audit.deletion-held', data],
        ['org_tested', 'audit.deletion-held', data],
      ]
      deepEqual(await runOnce(), both)
      clock.advance(dayMs / 2)
      deepEqual(await runOnce(), both)
      clock.advance(dayMs / 2)
      deepEqual((await runOnce()).length, 4)
      await db.updateTable('audit_sinks').set({ disabled_at: 1 }).execute()
      clock.advance(dayMs)
      deepEqual((await runOnce()).length, 4)
      deepEqual(await db.selectFrom('audit').select('sequence').where('sequence', '<=', 5).execute(), [])
    } finally {
      await db.destroy()
      rmSync(home, { recursive: true })
    }
  })
})
