import { test } from 'node:test'
import { runAlerts } from '../alerts/alerts.ts'
import { runShort } from '../run-short.ts'

test('events arrive in order over a receiver that fails and a sender that is killed', () => runShort(runAlerts, 300))
