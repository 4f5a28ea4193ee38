import { test } from 'node:test'
import { runKills } from '../kills.ts'
import { runLedgerKills } from '../ledger-kills.ts'
import { runLifecycle } from '../lifecycle.ts'
import { runShort } from '../run-short.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('an engine child that dies breaks answers off in order', () => runShort(runKills, 2))
test('a service that ends loses nothing that was acknowledged', () => runShort(runLifecycle, 2))
test('a service that is killed has written on SQLite what it acknowledged', () => runShort(runLedgerKills, 3))
test('on PostgreSQL the acknowledged ledger rows survive the kill of the service and of the server', () =>
  runShort((options) => runLedgerKills({ ...options, database: 'postgres' }), 3))
