import { test } from 'node:test'
import { runAvailability } from '../availability/availability.ts'
import { runShort } from '../run-short.ts'

test('what is reported of a month with outages is what the script has', () => runShort(runAvailability, 4))
