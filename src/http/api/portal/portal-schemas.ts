import { z } from 'zod'
import { budgetPeriods } from '../../../core/limit.ts'
import { costMicros, model, time } from '../schemas.ts'

const limit = z
  .strictObject({
    of: z.enum(['organization', 'project', 'api-key']).describe('Whose limit it is.'),
    model: z.union([model, z.literal('*')]),
    kind: z.enum(['requests', 'input-tokens', 'output-tokens', 'concurrency']),
    limit: z.int(),
    remaining: z.int(),
    fullInMs: z.number().nullable(),
    isEnforced: z.boolean(),
    isBinding: z.boolean(),
  })
  .meta({ id: 'PortalLimit' })

const budget = z.strictObject({
  period: z.enum(budgetPeriods),
  microsMax: z.int().nullable().describe('What it has now, with a raise that is in force.'),
  tokensMax: z.int().nullable(),
  raisedUntil: time.nullable().describe('Until when it has more than it always has; null where it is not raised.'),
  spent: z.strictObject({ micros: z.int(), tokens: z.int() }),
  periodEndsAt: time.nullable(),
})

const rates = z.strictObject({
  input: z.int(),
  cacheRead: z.int(),
  cacheWriteShort: z.int(),
  cacheWriteLong: z.int(),
  output: z.int(),
})

const price = z.strictObject({
  model,
  current: z.strictObject({ rates, since: time }).nullable().describe('Null where nothing is charged.'),
  announced: z
    .array(
      z.strictObject({ rates: rates.nullable().describe('Null where nothing is charged from then on.'), from: time }),
    )
    .describe('Each later moment from which on requests of the key cost something else.'),
})

export const portalAnswer = z
  .strictObject({
    key: z.strictObject({
      id: z.string(),
      name: z.string(),
      lastFour: z.string(),
      createdAt: time,
      endsAt: time.nullable(),
      models: z.array(z.string()).nullable().describe('Null is all.'),
      endpoints: z.array(z.string()).nullable(),
      addresses: z.array(z.string()).nullable(),
    }),
    organizationName: z.string(),
    projectName: z.string(),
    limits: z.array(limit),
    budgets: z.array(budget),
    currency: z.string(),
    prices: z.array(price),
    endsAt: time.describe('When the key has to be shown again.'),
  })
  .meta({ id: 'Portal' })

const day = z.strictObject({
  startsAt: time,
  requests: z.int(),
  failed: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
  costMicros,
})

export const portalUsage = z
  .strictObject({ days: z.array(day), totals: day.omit({ startsAt: true }) })
  .meta({ id: 'PortalUsage' })

export const portalRequest = z
  .strictObject({
    requestId: z.string(),
    kind: z.enum(['charge', 'reversal']),
    at: time,
    model: z.string(),
    outcome: z.enum(['finished', 'aborted', 'failed']),
    reason: z.string().nullable(),
    inputTokens: z.int(),
    cachedTokens: z.int(),
    outputTokens: z.int(),
    durationMs: z.number(),
    costMicros: costMicros.nullable(),
  })
  .meta({ id: 'PortalRequest' })
