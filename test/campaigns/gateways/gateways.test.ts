import { test } from 'node:test'
import { runShort } from '../run-short.ts'
import { runGateways } from './gateways.ts'
import { runOutage } from './outage.ts'
import { runOffboarding } from './offboarding.ts'
import { runPlaces } from './places.ts'
import { runScim } from '../scim/scim.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('three gateways on one PostgreSQL keep together to limits and budgets, and to a key that is revoked', () =>
  runShort(runGateways, 1))
test('known keys are served while PostgreSQL refuses or hangs, and it has each ledger row once afterwards', () =>
  runShort(runOutage, 3))
test('clients that wait for each answer are not refused by up to twelve gateways, and bursts use all places and no more', () =>
  runShort(runPlaces, 5))
test('whom a directory switches off at one gateway is cut off at all of them', () => runShort(runOffboarding, 4))
test('what a directory says is so at all gateways, whichever of them is killed meanwhile', () => runShort(runScim, 30))
