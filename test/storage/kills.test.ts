import { test } from 'node:test'
import { runRowKills } from '../campaigns/row-kills.ts'
import { runShort } from '../campaigns/run-short.ts'

test('200 kills in the midst of writing to SQLite lose no row and double none', () => runShort(runRowKills, 200))
test('50 kills in the midst of writing to PostgreSQL lose no row and double none', () =>
  runShort((options) => runRowKills({ ...options, database: 'postgres' }), 50))
