// What several kinds of servers answer alike.

import { z } from 'zod'
import { faultOfStatus, malformed, type Ask, type ReplicaFault } from '../dialect.ts'

const modelsSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string(),
        max_model_len: z.int().nullish(),
        meta: z.object({ n_ctx: z.int().nullish() }).nullish(),
      }),
    )
    .min(1),
})
const tokensSchema = z.object({ tokens: z.array(z.int()) })

/** JSON has no negative infinity: what cannot be chosen, as under a grammar, comes as null from some servers. */
export const logprobSchema = z
  .number()
  .nullable()
  .transform((logprob) => logprob ?? -Infinity)

/** The models that a server names, of which there is one at the least. */
export function parseModels(answer: unknown) {
  const models = modelsSchema.safeParse(answer)
  if (!models.success) throw malformed('Its /v1/models names no model.')
  return models.data.data
}

/** The model that a server has, the first it names. */
export async function readModel(ask: Ask) {
  const [model] = parseModels(await ask({ method: 'GET', path: '/v1/models' }))
  if (model === undefined) throw malformed('Its /v1/models names no model.')
  return model
}

export function readTokens(answer: unknown): number[] {
  const read = tokensSchema.safeParse(answer)
  if (!read.success) throw malformed('Its /tokenize gives no list of tokens.')
  return read.data.tokens
}

/** Why an answer ended; any other reason is no end of one. */
export function reasonOf(reason: string): 'stop' | 'limit' {
  if (reason === 'stop') return 'stop'
  if (reason === 'length') return 'limit'
  throw malformed(`It ended its answer for a reason that was not asked for: ${reason}.`)
}

const errorSchema = z.object({ error: z.unknown() })
const statusSchema = z.object({ error: z.object({ code: z.int().min(400).max(599) }) })

/**
 * What is wrong with a record that is none of an answer.
 *
 * An engine that finds a request at fault once its stream has begun, as it reads a grammar, has no status left to say so with: it
 * sends a record with the status in it. That is no fault of the replica's then.
 */
export function faultOfRecord(value: unknown): ReplicaFault {
  const told = statusSchema.safeParse(value)
  if (told.success) {
    const { code } = told.data.error
    return faultOfStatus(code, `It ended its answer with an error (${code}).`, value)
  }
  const isError = errorSchema.safeParse(value).success
  return malformed(
    isError ? 'It ended its answer with an error.' : 'It sent a record that is none of an answer.',
    value,
  )
}
