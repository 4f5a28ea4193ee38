import { test } from 'node:test'
import { runControlTokens } from './control-tokens/control-tokens.ts'
import { runCounts } from './counts.ts'
import { runDisconnects } from './disconnects.ts'
import { runExactness } from './exactness/exactness.ts'
import { runKills } from './kills.ts'
import { runLedgerKills } from './ledger-kills.ts'
import { runLifecycle } from './lifecycle.ts'
import { runMutations } from './mutations.ts'
import { runShort } from './run-short.ts'
import { runStructured } from './structured.ts'
import { runLeaving } from './takedown/leaving.ts'
import { runTakedown } from './takedown/takedown.ts'
import { runWeightsHeaders } from './weights-headers.ts'
import { runWindow } from './window.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('a client’s text never becomes a control token', () => runShort(runControlTokens, 600))
test('a prompt is billed as it is counted, whatever asks for it', () => runShort(runCounts, 25))
test('clients that leave get one row each and keep nothing running', () => runShort(runDisconnects, 120))
test('an engine child that dies breaks answers off in order', () => runShort(runKills, 3))
test('damaged requests are refused in the right form', () => runShort(runMutations, 1_500))
test('a service that ends loses nothing that was acknowledged', () => runShort(runLifecycle, 3))
test('a service that is killed has written what it acknowledged', () => runShort(runLedgerKills, 3))
test('so it has on PostgreSQL, whichever of the two is killed', () =>
  runShort((options) => runLedgerKills({ ...options, database: 'postgres' }), 3))
test('calls and JSON have their form whatever the schema', () => runShort(runStructured, 60))
test('clients that leave during their prompts leave the engine to the others', () => runShort(runLeaving, 40))
test('a key that attacks takes the service from nobody', () => runShort(runTakedown, 60))
test('a window is filled to its last token, and not beyond', () => runShort(runWindow, 8_192))
test('damaged headers of weights are taken or refused in words', () => runShort(runWeightsHeaders, 10_000))
test('every sum of the ledger is right to the unit', () => runShort(runExactness, 1_500))
test('so it is on PostgreSQL', () => runShort((options) => runExactness({ ...options, database: 'postgres' }), 1_500))
