// Pushes what there is until it is killed: `node pushing-program.ts HOME [DATABASE_URL]`.

import { flushCompileCache } from 'node:module'
import { startPushingAudit } from '../../../src/alerts/audit-sinks/push-audit.ts'
import { createReachable } from '../../../src/alerts/private-addresses.ts'
import { createPoster } from '../../../src/alerts/webhook.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { deliveryTimes, sealingKey } from '../alerts/times.ts'

// Who is killed cannot do so at its end, and the next one shall start sooner.
flushCompileCache()
const [home = '', databaseUrl = null] = process.argv.slice(2)
const db = await openDatabase({ home, databaseUrl })
const isReachable = createReachable(['127.0.0.1'])
const parts = { db, clock: systemClock, log: createLog('silent'), alertKey: sealingKey }
const product = { version: '0', host: 'log.example' }
const sending = { poster: createPoster(isReachable), isReachable, product }
startPushingAudit({ ...parts, ...sending, ...deliveryTimes, leaseMs: 2_000 })
console.log('pushing')
