import type { TokenLogprob } from '../../../../core/generation.ts'
import type { LogitIndex, Native, NativeSampler } from '../native.ts'
import type { Vocabulary } from '../vocabulary.ts'

/** Gives the log-probability of a token as the model itself saw it, before any sampling setting. */
export interface LogprobMeter {
  measure(index: LogitIndex, token: number): Promise<TokenLogprob>
  dispose(): void
}

const untouched = { topP: 1, minP: 0, seed: 0 }

/**
 * Two samplers look at the logits beside the one that chooses.
 *
 * One keeps the likeliest few, the other only sums up: so neither the whole
 * vocabulary is sorted nor any of it copied into JavaScript.
 */
export function createLogprobMeter(native: Native, vocabulary: Vocabulary, top: number): LogprobMeter {
  const likeliest = createSampler(native, { ...untouched, temperature: 1, topK: Math.max(1, top) })
  const sum = createSampler(native, { ...untouched, temperature: 0 })
  return {
    async measure(index, token) {
      const [best, total] = await Promise.all([
        native.context.measureToken(index, likeliest, { tokens: [], top: Math.max(1, top) }),
        native.context.measureToken(index, sum, { tokens: [token], top: 0 }),
      ])
      const highest = best.logits[0]?.[1] ?? 0
      const normalizer = highest + Math.log(total.weight)
      const describe = (id: number, logit: number) => ({
        bytes: vocabulary.bytesOf(id),
        logprob: Math.min(0, logit - normalizer),
      })
      const chosen = total.logits.find(([id]) => id === token)?.[1] ?? -Infinity
      return { ...describe(token, chosen), top: best.logits.slice(0, top).map(([id, logit]) => describe(id, logit)) }
    },
    dispose() {
      likeliest.dispose()
      sum.dispose()
    },
  }
}

function createSampler(native: Native, config: Parameters<NativeSampler['applyConfig']>[0]): NativeSampler {
  const sampler = native.createSampler()
  sampler.applyConfig(config)
  return sampler
}
