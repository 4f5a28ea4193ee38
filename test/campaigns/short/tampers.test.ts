import { test } from 'node:test'
import { runTampers } from '../tampers/tampers.ts'
import { runShort } from '../run-short.ts'

test('an audit that was tampered with is found out, also by who has every secret', () => runShort(runTampers, 40))
