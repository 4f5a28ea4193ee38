import { ok } from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { openLlama } from '../harness/open-llama.ts'

const starterPath = fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))

/** What the library has, read back from it. */
async function threadsWith(threads: number | null): Promise<number> {
  const ready = Promise.withResolvers<number>()
  const engine = openLlama({ weightsPath: starterPath, threads }, { onReady: (told) => ready.resolve(told.threads) })
  try {
    return await ready.promise
  } finally {
    await engine.close()
  }
}

test('the library is never given more threads than there are processors', async () => {
  for (const wanted of [null, 1_024]) {
    const threads = await threadsWith(wanted)
    ok(threads >= 1 && threads <= availableParallelism(), `${wanted} gave ${threads} threads`)
  }
})
