import { test } from 'node:test'
import { runControlTokens } from '../control-tokens/control-tokens.ts'
import { runCounts } from '../counts.ts'
import { runMutations } from '../bodies/mutations.ts'
import { runRetention } from '../retention.ts'
import { runStructured } from '../structured/structured.ts'
import { runWindow } from '../window.ts'
import { runShort } from '../run-short.ts'

// Each service that a campaign starts is ended by a listener of its own should the campaign end early.
process.setMaxListeners(0)

test('a client’s text never becomes a control token', () => runShort(runControlTokens, 300))
test('a prompt is billed as it is counted, whatever asks for it', () => runShort(runCounts, 10))
test('damaged requests are refused in the right form', () => runShort(runMutations, 400))
test('calls and JSON have their form whatever the schema', () => runShort(runStructured, 20))
test('nothing of a prompt is kept after its end', () => runShort(runRetention, 40))
test('a window is filled to its last token, and not beyond', () => runShort(runWindow, 8_192))
