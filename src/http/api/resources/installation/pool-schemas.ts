// What the routes of pools answer. The command line reads their answers.

import { z } from 'zod'
import { engineStates } from '../../../../core/engine.ts'

const replica = z
  .strictObject({
    address: z.string(),
    kind: z.enum(['llama-server', 'vllm', 'sglang', 'ollama', 'chat-completions']),
    state: z
      .enum(['proving', 'up', 'ejected', 'refused', 'draining'])
      .describe('Ejected for how it fails, until it answers again; refused for what it is.'),
    reason: z.string().nullable().describe('Why it is given nothing.'),
    running: z.int(),
    runningMax: z.int().describe('Answers that it is given at a time.'),
    outstandingTokens: z.int().describe('Tokens of prompts that it has yet to compute.'),
    roomTokens: z.int().describe('How many of them it is given at a time.'),
    tokensPerSecond: z
      .number()
      .nullable()
      .describe('Prompt tokens computed in a second; null before any were measured.'),
    hitRate: z
      .number()
      .nullable()
      .describe('The share of prompt tokens that it had already; null before any were sent.'),
    windowTokens: z.int().nullable(),
    version: z.string().nullable(),
    restarts: z
      .int()
      .nullable()
      .describe('How often its program ended and was started again; null where the service does not start it.'),
    missing: z.array(z.string()).describe('Flags that it was started without, and that the pool would use.'),
  })
  .meta({ id: 'Replica' })

const poolStatus = z
  .strictObject({
    name: z.string(),
    models: z.array(z.string()),
    state: z.enum(engineStates),
    counts: z
      .enum(['own', 'reported'])
      .describe('Reported where the replicas take messages: what they say is counted cannot be checked.'),
    windowTokens: z.int().nullable(),
    waiting: z.int().describe('Requests that wait for a replica.'),
    retries: z.int().describe('Further tries that are under way.'),
    replicas: z.array(replica),
  })
  .meta({ id: 'Pool' })

export type PoolStatus = z.output<typeof poolStatus>

export const poolsAnswer = z.strictObject({ data: z.array(poolStatus) })
