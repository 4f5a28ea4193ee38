import { z } from 'zod'
import { notFound } from '../../../core/permission.ts'
import { change, installationChain } from '../../../db/change.ts'
import { randomId } from '../../../lib/random-id.ts'
import { chosenWeights, weightsAnswer, weightsSwap, modelsAnswer } from '../engine-schemas.ts'
import { defineRoute, type Route } from '../route.ts'
import { model, nowhere } from '../schemas.ts'
import { statusOf } from '../../../models/catalog.ts'

export const engineRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/models',
    permission: 'engines:read',
    scope: 'installation',
    summary: 'Show the models, their slots, and who waits for them in which order',
    params: nowhere,
    answer: modelsAnswer,
    work({ parts: { catalog, management } }) {
      const models = catalog.list().map(({ model: { id, windowTokens }, ...lane }) => {
        const { state, slots, running, waiting, hasReportedCounts = false } = statusOf(lane)
        return {
          id,
          state,
          windowTokens,
          counts: hasReportedCounts ? 'reported' : 'own',
          slots,
          running,
          waiting,
        } as const
      })
      return Promise.resolve({ models, queues: management.readQueues() })
    },
  }),
  // No role has the permissions of weights: files of the machine are the business of whoever has its command line.
  defineRoute({
    method: 'GET',
    path: '/api/v1/weights',
    permission: 'weights:read',
    scope: 'installation',
    summary: 'Show which weights are loaded for which model (for the command line of the machine alone)',
    params: nowhere,
    answer: weightsAnswer,
    work: ({ parts: { management } }) => Promise.resolve({ data: management.weights.list() }),
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/models/{model}/weights',
    permission: 'weights:update',
    scope: 'installation',
    summary: 'Give a model other weights while it serves (for the command line of the machine alone)',
    example: { chosen: null },
    params: z.strictObject({ model }),
    body: z.strictObject({ chosen: chosenWeights }),
    answer: weightsSwap,
    async work({ parts: { accounts, management, afterwards }, principal, params: { model: id }, body: { chosen } }) {
      const swapId = randomId()
      const action = { action: 'weights:update', organizationId: installationChain, target: id }
      const before = management.weights.list().find((loaded) => loaded.model === id)
      await change(accounts, principal, action, (_transaction, note) => {
        note({ weights: before?.path ?? null }, { weights: chosen?.weights ?? 'built-in' })
        return Promise.resolve()
      })
      afterwards(() => Promise.resolve(management.weights.startSwap(swapId, { model: id, chosen })))
      return { id: swapId, model: id, state: 'waiting' as const, message: '' }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/weights/swaps/{swapId}',
    permission: 'weights:read',
    scope: 'installation',
    summary: 'Show what has become of a swap of weights (for the command line of the machine alone)',
    params: z.strictObject({ swapId: z.string() }),
    answer: weightsSwap,
    work({ parts: { management }, params }) {
      const found = management.weights.findSwap(params.swapId)
      return found === null ? Promise.reject(notFound()) : Promise.resolve(found)
    },
  }),
]
