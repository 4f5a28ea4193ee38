// The log-probabilities that a llama-server leaves out: it tells none of a token at whose end the answer is in the midst of a
// character. Such a place is asked for once more, as an answer of one token that is a character: what the server tells of that
// place are the likeliest tokens before anything is chosen. One that is not among them is raised until it is.

import { z } from 'zod'
import type { TableReader } from '../../text/model-text.ts'
import { malformed, ReplicaFault, type Ask, type TokenIdLogprob, type TokenRequest } from '../dialect.ts'
import { logprobSchema } from './server-answers.ts'

const probability = z.object({ id: z.int(), logprob: logprobSchema })
export const probabilitySchema = probability.extend({ top_logprobs: z.array(probability) })
export type ToldProbability = z.output<typeof probabilitySchema>

const answerSchema = z.object({ completion_probabilities: z.array(probabilitySchema).length(1) })
const raisedSchema = z.object({
  completion_probabilities: z
    .array(z.object({ top_probs: z.array(z.object({ id: z.int(), prob: z.number().nonnegative() })) }))
    .length(1),
})

/** The likeliest that are asked for. A token that was chosen is nearly always among so many. */
const likelyTokens = 128

/** Puts to each token what was told of it, and null where nothing was. */
export function alignLogprobs(
  { tokens, told, top }: { tokens: readonly number[]; told: readonly ToldProbability[]; top: number },
  vocabulary: TableReader,
): (TokenIdLogprob | null)[] {
  let next = 0
  // The last bytes of the text. The zeros before its first one are characters of their own.
  const end = Buffer.alloc(characterBytesMax)
  const aligned = tokens.map((id) => {
    for (const byte of vocabulary.bytesOf(id).subarray(-characterBytesMax)) {
      end.copyWithin(0, 1)
      end[characterBytesMax - 1] = byte
    }
    if (endsWithinCharacter(end)) return null
    const own = told[next++]
    if (own?.id !== id) throw malformed('It gives probabilities of other tokens than it sent.')
    return { logprob: own.logprob, top: own.top_logprobs.slice(0, top) }
  })
  if (next < told.length) throw malformed('It gives more probabilities than tokens.')
  return aligned
}

export type AskedToken = Pick<TokenRequest, 'slot'> & {
  readonly id: number
  /** All tokens before it. */
  readonly prompt: readonly number[]
  /** Alternatives to report. */
  readonly top: number
}

/** Asks for the log-probability of a token. */
export async function askLogprob(asked: AskedToken, ask: Ask): Promise<TokenIdLogprob> {
  const place = new Place(asked, ask)
  const likeliest = await place.likeliest(Math.max(asked.top, likelyTokens))
  const own = likeliest.top_logprobs.find(({ id }) => id === asked.id)
  const logprob = own?.logprob ?? (await place.unlikely(asked.id, likeliest))
  return { logprob, top: likeliest.top_logprobs.slice(0, asked.top) }
}

/** So far the character is raised above the likeliest token: then it is chosen, where the other one is not raised as far. */
const chosenRaise = 14
/** So much further each try raises the other one, which comes no nearer to the character by it than four. */
const raiseStep = 10
/** As many as a token takes whose logarithm is a hundred below the likeliest one's. */
const raisesMax = 12

/** One place of an answer, of which the server is asked by answers of one token. */
class Place {
  readonly #asked: AskedToken
  readonly #ask: Ask

  constructor(asked: AskedToken, ask: Ask) {
    this.#asked = asked
    this.#ask = ask
  }

  /** The likeliest tokens there, and the probability of a token that is a character. */
  async likeliest(width: number): Promise<ToldProbability> {
    const answer = answerSchema.safeParse(await this.#send({ temperature: 0, n_probs: width, grammar: 'root ::= "a"' }))
    const [told] = answer.data?.completion_probabilities ?? []
    if (told === undefined || told.top_logprobs.length === 0)
      throw malformed('It gives no probabilities of an answer of one token.')
    return told
  }

  /**
   * The log-probability of a token that is not among the likeliest. It is raised by a bias until it is, and compared with the
   * likeliest one: those of the whole vocabulary would be some megabytes to write and to read.
   */
  async unlikely(
    id: number,
    { id: character, logprob: own, top_logprobs: likeliest }: ToldProbability,
  ): Promise<number> {
    const reference = likeliest.find((other) => other.id !== character)
    const last = likeliest.at(-1)
    if (reference === undefined || last === undefined) throw malformed('It gives no probabilities.')
    const characterBias = Math.max(0, reference.logprob - own) + chosenRaise
    const spread = Math.max(1, reference.logprob - last.logprob)
    let bias = spread
    for (let seed = 0; seed < raisesMax; seed++) {
      const found = await this.#raised(
        [
          [character, characterBias],
          [id, bias],
        ],
        seed,
      )
      const raised = found.get(id)
      const compared = found.get(reference.id)
      if (raised !== undefined && compared !== undefined) return Math.log(raised / compared) + reference.logprob - bias
      if (found.size > 0) bias += Math.max(spread, raiseStep)
    }
    throw new ReplicaFault('unfit', 'It gives no probability of a token that it chose.')
  }

  /** What the likeliest have under biases; nothing where a token was chosen all the same at whose end it tells nothing. */
  async #raised(
    biases: readonly (readonly [token: number, bias: number])[],
    seed: number,
  ): Promise<ReadonlyMap<number, number>> {
    const terms = { temperature: 1, samplers: [], seed, post_sampling_probs: true }
    const answer = raisedSchema.safeParse(await this.#send({ ...terms, n_probs: likelyTokens, logit_bias: biases }))
    const likeliest = answer.data?.completion_probabilities[0]?.top_probs ?? []
    return new Map(likeliest.filter(({ prob }) => prob > 0).map(({ id, prob }) => [id, prob]))
  }

  #send(terms: object): Promise<unknown> {
    const { prompt, slot } = this.#asked
    const place = {
      prompt,
      n_predict: 1,
      stream: false,
      cache_prompt: true,
      ...(slot !== null && { id_slot: slot.id }),
    }
    return this.#ask({ method: 'POST', path: '/completion', body: { ...place, ...terms } })
  }
}

const characterBytesMax = 4

/** As the server looks at it: by the last byte that begins a character of several, and without a look at those behind it. */
function endsWithinCharacter(text: Buffer): boolean {
  for (let back = 1; back <= characterBytesMax; back++) {
    const byte = text[text.length - back] ?? 0
    const length = byte >= 0xf8 || byte < 0xc0 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
    if (back < length) return true
  }
  return false
}
