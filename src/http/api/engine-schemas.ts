// What the routes of models and weights take and answer. The command line reads their answers.

import { z } from 'zod'
import { engineStates } from '../../core/engine.ts'
import { model } from './schemas.ts'

const status = z
  .strictObject({
    id: model,
    state: z.enum(engineStates),
    windowTokens: z.int().describe('Prompt and answer together.'),
    counts: z
      .enum(['own', 'reported'])
      .describe('Reported where a pool’s servers take messages: what they say is counted cannot be checked.'),
    slots: z.int().nullable().describe('How many answers are made at a time.'),
    running: z.int(),
    waiting: z.int(),
  })
  .meta({ id: 'ModelStatus' })

export const waitingRequest = z.strictObject({
  position: z.int(),
  requestId: z.string(),
  model: z.string(),
  organizationId: z.string(),
  apiKeyId: z.string(),
  inputTokens: z.int().nullable(),
  waitedMs: z.number(),
})

const queue = z
  .strictObject({
    models: z.array(z.string()).describe('The models that one loaded file answers for.'),
    slots: z.int(),
    running: z.int(),
    waiting: z.int(),
    oldestWaitMs: z.number(),
    upcoming: z.array(waitingRequest),
  })
  .meta({ id: 'Queue' })

export type Queue = z.output<typeof queue>

export const modelsAnswer = z.strictObject({ models: z.array(status), queues: z.array(queue) })

const weights = z
  .strictObject({
    model,
    path: z.string().describe('The GGUF file on the machine of the service.'),
    bytes: z.int(),
    isBuiltIn: z.boolean().describe('Whether they are the starter weights that come with Odyssey.'),
    state: z.enum(engineStates),
    reason: z.string().nullable().describe('Why they are not ready.'),
    loading: z
      .strictObject({
        share: z.number().describe('How much is loaded, from 0 to 1.'),
        readyInMs: z
          .int()
          .nullable()
          .describe('How long it will take, by what it took so far; null where nobody can tell.'),
      })
      .nullable()
      .describe('Null while nothing is loaded.'),
    windowTokens: z.int(),
    slots: z.int().nullable(),
    enginePid: z.int().nullable(),
    hasGenericTools: z
      .boolean()
      .describe('Whether tools are described in the system text, because the chat template has no place for them.'),
  })
  .meta({ id: 'LoadedWeights' })

export const chosenWeights = z
  .strictObject({
    weights: z.string().min(1).describe('An absolute path on the machine of the service.'),
    source: z.string().nullable().default(null).describe('Where the file was fetched from.'),
    sha256: z.string().nullable().default(null),
  })
  .nullable()
  .describe('Null goes back to the weights that come with Odyssey.')

export const weightsSwap = z
  .strictObject({
    id: z.string(),
    model,
    state: z.enum(['waiting', 'under-way', 'done', 'refused']),
    message: z.string().describe('What came of it; of a refused one the reason, and then the model keeps its weights.'),
  })
  .meta({ id: 'WeightsSwap' })
export const weightsAnswer = z.strictObject({ data: z.array(weights) })

export type LoadedWeights = z.output<typeof weights>
export type WeightsSwap = z.output<typeof weightsSwap>
