import { test } from 'node:test'
import { runShort } from '../run-short.ts'
import { runSinks } from '../sinks/sinks.ts'

test('the audit arrives in order at receivers that fail, from a sender that is killed', () => runShort(runSinks, 300))
