import { invalidRequest } from '../../../../core/error.ts'
import type { Sampling } from '../../../../core/generation.ts'

/** A bias on a token that does not exist is a mistake, such as numbers of another model's vocabulary. */
export function refuseUnknownTokens({ logitBias }: Sampling, vocabularySize: number): void {
  const unknown = logitBias.find(([token]) => token >= vocabularySize)
  if (unknown === undefined) return
  const path = ['logit_bias', String(unknown[0])]
  throw invalidRequest(path, 'value', `${path.join('.')}: the model has no token with this number`)
}
