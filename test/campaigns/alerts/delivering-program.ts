// Delivers what there is until it is killed: `node delivering-program.ts HOME [DATABASE_URL]`.

import { flushCompileCache } from 'node:module'
import { startDelivering } from '../../../src/alerts/deliver.ts'
import { createReachable } from '../../../src/alerts/private-addresses.ts'
import { createPoster } from '../../../src/alerts/webhook.ts'
import { openDatabase } from '../../../src/db/open-database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { deliveryTimes, sealingKey } from './times.ts'

// Who is killed cannot do so at its end, and the next one shall start sooner.
flushCompileCache()
const [home = '', databaseUrl = null] = process.argv.slice(2)
const db = await openDatabase({ home, databaseUrl })
const poster = createPoster(createReachable(['127.0.0.1']))
const log = createLog('silent')
startDelivering({ db, clock: systemClock, log, alertKey: sealingKey, poster, mail: null, ...deliveryTimes })
console.log('delivering')
