// The log-probabilities that a llama-server leaves out: it tells none of a token at whose end the answer is in the midst of a
// character. Such a place is asked for once more, as an answer of one token that is a character: what the server tells of that
// place are the probabilities before anything is chosen, and those of the token in question are among them.

import { z } from 'zod'
import type { TableReader } from '../../text/model-text.ts'
import { malformed, ReplicaFault, type Ask, type TokenIdLogprob, type TokenRequest } from '../dialect.ts'

const probability = z.object({ id: z.int(), logprob: z.number() })
export const probabilitySchema = probability.extend({ top_logprobs: z.array(probability) })
type ToldProbability = z.output<typeof probabilitySchema>

const answerSchema = z.object({ completion_probabilities: z.array(probabilitySchema).length(1) })

/** A token that was chosen is nearly always among so many; where it is not, those of the whole vocabulary are asked for. */
const likelyTokens = 128

/** Puts to each token what was told of it, and null where nothing was. */
export function alignLogprobs(
  { tokens, told, top }: { tokens: readonly number[]; told: readonly ToldProbability[]; top: number },
  vocabulary: TableReader,
): (TokenIdLogprob | null)[] {
  const left = [...told]
  let end = Buffer.alloc(0)
  const aligned = tokens.map((id) => {
    end = Buffer.concat([end, vocabulary.bytesOf(id)]).subarray(-characterBytesMax)
    if (endsWithinCharacter(end)) return null
    const next = left.shift()
    if (next?.id !== id) throw malformed('It gives probabilities of other tokens than it sent.')
    return { logprob: next.logprob, top: next.top_logprobs.slice(0, top) }
  })
  if (left.length > 0) throw malformed('It gives more probabilities than tokens.')
  return aligned
}

export type AskedToken = Pick<TokenRequest, 'slot'> & {
  readonly id: number
  /** All tokens before it. */
  readonly prompt: readonly number[]
  /** Alternatives to report. */
  readonly top: number
  readonly vocabularySize: number
}

/** Asks for the log-probability of a token. */
export async function askLogprob(asked: AskedToken, ask: Ask): Promise<TokenIdLogprob> {
  const { id, prompt, slot, top, vocabularySize } = asked
  for (const width of [Math.max(top, likelyTokens), vocabularySize]) {
    const body = {
      prompt,
      n_predict: 1,
      stream: false,
      temperature: 0,
      n_probs: width,
      grammar: 'root ::= "a"',
      cache_prompt: true,
      ...(slot !== null && { id_slot: slot.id }),
    }
    const answer = answerSchema.safeParse(await ask({ method: 'POST', path: '/completion', body }))
    const [told] = answer.data?.completion_probabilities ?? []
    if (told === undefined) throw malformed('It gives no probabilities of an answer of one token.')
    const own = told.top_logprobs.find((other) => other.id === id)
    if (own !== undefined) return { logprob: own.logprob, top: told.top_logprobs.slice(0, top) }
  }
  throw new ReplicaFault('unfit', 'It gives no probability of a token that it chose.')
}

const characterBytesMax = 4

/** As the server looks at it: by the last byte that begins a character of several, and without a look at those behind it. */
function endsWithinCharacter(text: Buffer): boolean {
  for (let back = 1; back <= Math.min(characterBytesMax, text.length); back++) {
    const byte = text[text.length - back] ?? 0
    const length = byte >= 0xf8 || byte < 0xc0 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    if (back < length) return true
  }
  return false
}
