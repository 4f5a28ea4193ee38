import { test } from 'node:test'
import { runDisconnects } from '../disconnects.ts'
import { runConnections } from '../takedown/connections.ts'
import { runLeaving } from '../takedown/leaving.ts'
import { runTakedown } from '../takedown/takedown.ts'
import { runShort } from '../run-short.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('clients that leave get one ledger row each and keep nothing running', () => runShort(runDisconnects, 60))
test('clients that leave during their prompts leave the engine to the others', () => runShort(runLeaving, 20))
test('a key that attacks takes the service from nobody', () => runShort(runTakedown, 20))
test('connections that say nothing and bodies that hardly come keep nobody out', () => runShort(runConnections, 20))
