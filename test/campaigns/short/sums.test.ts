import { test } from 'node:test'
import { runExactness } from '../exactness/exactness.ts'
import { runSchemasShort } from '../schemas/schemas.ts'
import { runWeightsHeaders } from '../weights-headers.ts'
import { runShort } from '../run-short.ts'

test('damaged headers of weights are taken or refused in words', () => runShort(runWeightsHeaders, 10_000))
test('every sum of the ledger on SQLite is right to the unit', () => runShort(runExactness, 600))
test('every sum of the ledger on PostgreSQL is right to the unit', () =>
  runShort((options) => runExactness({ ...options, database: 'postgres' }), 600))
test('no grammar takes a value that its schema does not', () => runShort(runSchemasShort, 60))
