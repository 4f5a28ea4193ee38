import { test, type TestContext } from 'node:test'
import { runCalls } from '../calls/calls.ts'
import { Missing } from '../../harness/programs/cache.ts'
import { fetchRealFile, realFiles } from '../real-weights/real-files.ts'
import { runRealWeightsShort } from '../real-weights/real-weights.ts'
import { runShort } from '../run-short.ts'

type Run = Parameters<typeof runShort>[0]

async function runOnWeights(context: TestContext, run: Run, count: number): Promise<void> {
  try {
    await fetchRealFile(realFiles[0]!)
  } catch (error) {
    // Where tests decide what is released, missing weights are a failure like wrong ones.
    if (!(error instanceof Missing) || process.env['CI'] !== undefined) throw error
    return context.skip(error.message)
  }
  await runShort(run, count)
}

test('open weights keep every promise under all names', (context) => runOnWeights(context, runRealWeightsShort, 1))
test('open weights without a template for tools call them, write JSON and think', (context) =>
  runOnWeights(context, runCalls, 6))
