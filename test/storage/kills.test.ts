import { test } from 'node:test'
import { runRowKills } from '../campaigns/row-kills.ts'
import { runShort } from '../campaigns/run-short.ts'

test('200 kills in the midst of writing lose nothing and double nothing', () => runShort(runRowKills, 200))
test('so do 50 on PostgreSQL', () => runShort((options) => runRowKills({ ...options, database: 'postgres' }), 50))
