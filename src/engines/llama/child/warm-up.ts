import { leastRequest } from '../../../core/least-request.ts'
import type { Native } from './native.ts'
import type { PromptBuilder } from './prompt/prompt-builder.ts'
import { TokenChooser } from './sampling/token-chooser.ts'
import type { Vocabulary } from './vocabulary.ts'

const sentences = 2_000
/** Enough for every weight to be read once. */
const tokensComputed = 16

/**
 * Does once what every request does, so that the first one finds everything ready.
 *
 * Weights are read from their file when they are first used, the library plans a
 * computation when it first makes it, and a program becomes fast by being run.
 */
export async function warmUp(native: Native, vocabulary: Vocabulary, prompts: PromptBuilder): Promise<void> {
  const { context, memory, windowTokens, batchTokens } = native
  const { tokens } = await prompts.build(request)
  const some = tokens.subarray(0, Math.min(tokensComputed, windowTokens, batchTokens))
  const chooser = new TokenChooser(native, vocabulary, request, [])
  context.initBatch(some.length)
  const [logit] = Array.from(context.addToBatch(0, 0, some, Uint32Array.of(some.length - 1)))
  await context.decodeBatch()
  if (logit !== undefined) await chooser.choose(logit)
  chooser.dispose()
  memory.clear(0)
}

const request = leastRequest('The first words of the day, number 1. '.repeat(sentences))
