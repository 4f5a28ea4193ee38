// What the routes of an installation's models, weights and jobs take and answer.

import { z } from 'zod'
import { engineStates } from '../../../../core/engine.ts'
import { waitingRequest } from '../../engine-schemas.ts'
import { id, model, time } from '../../schemas.ts'

export const weightsId = id('weights')
export const jobId = id('job')
/** A source is long where it is an address with a key in it. */
export const source = z.string().min(1).max(2_000)
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const weights = z.strictObject({
  name: z.string().describe('Below the folder of weights, or the file’s own name where it lies elsewhere.'),
  bytes: z.int(),
  sha256: sha256.nullable().describe('Null while nobody has hashed it.'),
  isBuiltIn: z.boolean().describe('Whether they are the starter weights that come with Odyssey.'),
  source: z.string().nullable().describe('Where they were fetched from; null for a file that was brought.'),
  fixedByConfig: z
    .array(model)
    .describe('The models for which the config file names them, which nothing here changes.'),
})

const loadedFile = z
  .strictObject({
    models: z.array(model).describe('Which it answers for; none where old weights only finish what they have begun.'),
    state: z.enum(engineStates),
    reason: z.string().nullable().describe('Why it is not ready.'),
    loading: z.strictObject({ share: z.number(), readyInMs: z.int().nullable() }).nullable(),
    weights,
    windowTokens: z.int().nullable().describe('Of the weights; null before they are loaded.'),
    hasGenericTools: z.boolean(),
    enginePid: z.int().nullable(),
    slots: z.int(),
    running: z.int(),
    waiting: z.int(),
    oldestWaitMs: z.number(),
    upcoming: z.array(waitingRequest),
  })
  .meta({ id: 'LoadedFile' })

export const fleetAnswer = z.strictObject({
  files: z.array(loadedFile),
  memory: z.strictObject({
    totalBytes: z.int().describe('Of the machine or its container.'),
    availableBytes: z.int(),
    weightsBytes: z.int().describe('Of all files that are loaded.'),
  }),
})

export type LoadedFile = z.input<typeof loadedFile>
export type Fleet = z.input<typeof fleetAnswer>

export const weightsFile = z
  .strictObject({
    id: weightsId,
    name: z.string().describe('Below the folder of weights.'),
    bytes: z.int().describe('Of all its parts.'),
    changedAt: time,
    sha256: sha256.nullable(),
    isWhole: z.boolean().describe('Whether all its parts are there.'),
    usedBy: z.array(model).describe('The models that have it, or will have it at the next start.'),
  })
  .meta({ id: 'WeightsFile' })

export const recommendation = z
  .strictObject({
    name: z.string(),
    source,
    bytes: z.int(),
    models: z.array(model).describe('What it is recommended for.'),
    fit: z
      .enum(['beside', 'alone', 'no'])
      .describe('Into memory: beside what is loaded, only in its place, or not at all.'),
  })
  .meta({ id: 'RecommendedWeights' })

export const job = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['fetch', 'use']),
    model: model.nullable(),
    source: z.string(),
    state: z.enum(['under-way', 'done', 'failed', 'cancelled']),
    phase: z.enum(['waiting', 'fetching', 'checking', 'loading', 'over']),
    message: z.string().describe('What came of it, or why it failed.'),
    bytesDone: z.int(),
    bytesTotal: z.int().nullable(),
    bytesPerSecond: z.int().nullable(),
    startedAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'WeightsJob' })
