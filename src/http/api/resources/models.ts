import { z } from 'zod'
import { statusOf } from '../../../models/catalog.ts'
import { defineRoute, type Route } from '../route.ts'
import { model, nowhere } from '../schemas.ts'

const status = z
  .strictObject({
    id: model,
    state: z.enum(['loading', 'ready', 'down', 'closed']),
    windowTokens: z.int().describe('Prompt and answer together.'),
    slots: z.int().nullable().describe('How many answers are made at a time.'),
    running: z.int(),
    waiting: z.int(),
  })
  .meta({ id: 'ModelStatus' })

const queue = z
  .strictObject({
    models: z.array(z.string()).describe('The models that one loaded file answers for.'),
    slots: z.int(),
    running: z.int(),
    waiting: z.int(),
    oldestWaitMs: z.number(),
    upcoming: z.array(
      z.strictObject({
        position: z.int(),
        requestId: z.string(),
        model: z.string(),
        organizationId: z.string(),
        apiKeyId: z.string(),
        inputTokens: z.int().nullable(),
        waitedMs: z.number(),
      }),
    ),
  })
  .meta({ id: 'Queue' })

export const modelRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/models',
    permission: 'engines:read',
    scope: 'installation',
    summary: 'Show the models, their slots, and who waits for them in which order',
    params: nowhere,
    answer: z.strictObject({ models: z.array(status), queues: z.array(queue) }),
    work({ parts: { catalog, management } }) {
      const models = catalog.list().map(({ model: { id, windowTokens }, ...lane }) => {
        const { state, slots, running, waiting } = statusOf(lane)
        return { id, state, windowTokens, slots, running, waiting }
      })
      const queues = management.readQueues().map(({ models: names, upcoming, ...rest }) => {
        return { models: [...names], ...rest, upcoming: [...upcoming] }
      })
      return Promise.resolve({ models, queues })
    },
  }),
]
