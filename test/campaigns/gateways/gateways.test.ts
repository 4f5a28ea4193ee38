import { test } from 'node:test'
import { runShort } from '../run-short.ts'
import { runGateways } from './gateways.ts'
import { runOutage } from './outage.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('three gateways on one PostgreSQL keep together to limits and budgets, and to a key that is revoked', () =>
  runShort(runGateways, 1))
test('while PostgreSQL refuses or hangs known keys are served, and it has each row once afterwards', () =>
  runShort(runOutage, 4))
