import { test } from 'node:test'
import { runAuditKills } from '../audit-kills/audit-kills.ts'
import { runShort } from '../run-short.ts'

test('a killed process leaves an audit that agrees with what was signed and deleted', () => runShort(runAuditKills, 10))
