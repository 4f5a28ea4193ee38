import { test } from 'node:test'
import { runPools } from '../pools.ts'
import { runShort } from '../run-short.ts'

test('a pool whose replicas are killed, cut off and left answers and counts as if nothing had been', () =>
  runShort(runPools, 20))
