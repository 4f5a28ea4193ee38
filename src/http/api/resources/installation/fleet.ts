import { z } from 'zod'
import { change, installationChain } from '../../../../db/change.ts'
import { conflict, invalidRequest } from '../../../../core/error.ts'
import type { ModelId } from '../../../../core/model.ts'
import { notFound } from '../../../../core/permission.ts'
import { randomId } from '../../../../lib/random-id.ts'
import { WeightsSourceError } from '../../../../models/download/weights-source.ts'
import type { Job } from '../../../../models/jobs/weights-jobs.ts'
import type { WeightsFile } from '../../../../models/jobs/weights-folder.ts'
import type { ManagementParts } from '../../parts.ts'
import { defineRoute, type Route } from '../../route.ts'
import { model, nowhere, toTime, toTimeOrNull } from '../../schemas.ts'
import { fleetAnswer, job, jobId, recommendation, sha256, source, weightsFile, weightsId } from './fleet-schemas.ts'

const installation = { permission: 'engines:read', scope: 'installation' } as const
const installationChange = { permission: 'engines:update', scope: 'installation', needsProof: true } as const
const startedJob = z.strictObject({ jobId: z.string().describe('What becomes of it is found under this.') })

const reads: readonly Route[] = [
  defineRoute({
    ...installation,
    method: 'GET',
    path: '/api/v1/installation/models',
    summary: 'Show the loaded files, the models they answer for, who waits for them, and the memory',
    params: nowhere,
    answer: fleetAnswer,
    work: ({ parts: { management } }) => Promise.resolve(management.fleet.read()),
  }),
  defineRoute({
    ...installation,
    method: 'GET',
    path: '/api/v1/installation/weights',
    summary: 'List the weights in the folder of weights',
    params: nowhere,
    answer: z.strictObject({ data: z.array(weightsFile) }),
    work: ({ parts: { management } }) =>
      Promise.resolve({ data: management.fleet.files().map((file) => showFile(management, file)) }),
  }),
  defineRoute({
    ...installation,
    method: 'GET',
    path: '/api/v1/installation/weights/recommended',
    summary: 'List weights that may be fetched, and whether they fit into this machine’s memory',
    params: nowhere,
    answer: z.strictObject({ data: z.array(recommendation) }),
    work: ({ parts: { management } }) =>
      Promise.resolve({ data: management.fleet.recommend().map((one) => ({ ...one, models: [...one.models] })) }),
  }),
  defineRoute({
    ...installation,
    method: 'GET',
    path: '/api/v1/installation/jobs',
    summary: 'List what is done with weights in the background, the newest first',
    params: nowhere,
    answer: z.strictObject({ data: z.array(job) }),
    work: ({ parts: { management } }) => Promise.resolve({ data: management.jobs.list().map(showJob) }),
  }),
  defineRoute({
    ...installation,
    method: 'GET',
    path: '/api/v1/installation/jobs/{jobId}',
    summary: 'Show how far a job is',
    params: z.strictObject({ jobId }),
    answer: job,
    work: ({ parts: { management }, params }) => Promise.resolve(showJob(requireJob(management, params.jobId))),
  }),
]

const changes: readonly Route[] = [
  defineRoute({
    ...installationChange,
    method: 'POST',
    path: '/api/v1/installation/weights/pull',
    summary: 'Fetch weights in the background, and give them to a model where one is named',
    example: { source: 'owner/repo/file.gguf', model: 'tycho-1.0' },
    params: nowhere,
    body: z.strictObject({ source, model: model.nullable().default(null), sha256: sha256.nullable().default(null) }),
    answer: startedJob,
    async work({ parts: { accounts, management, afterwards }, principal, body }) {
      const name = nameOf(management, body.source)
      requireOpenChoice(management, body.model)
      const id = `job_${randomId()}`
      const action = { action: 'engines:update', organizationId: installationChain, target: id } as const
      await change(accounts, principal, action, (_transaction, note) => {
        note(null, { fetched: name, model: body.model, sha256: body.sha256 })
        return Promise.resolve()
      })
      afterwards(() => Promise.resolve(management.jobs.startFetch(id, body)))
      return { jobId: id }
    },
  }),
  defineRoute({
    ...installationChange,
    method: 'POST',
    path: '/api/v1/installation/models/{model}/weights',
    summary: 'Give a model weights of the folder of weights, or those that come with Odyssey, while it serves',
    example: { weightsId: null },
    params: z.strictObject({ model }),
    body: z.strictObject({ weightsId: weightsId.nullable().describe('Null goes back to the starter weights.') }),
    answer: startedJob,
    async work({ parts: { accounts, management, afterwards }, principal, params, body }) {
      const file = body.weightsId === null ? null : requireFile(management, body.weightsId)
      requireOpenChoice(management, params.model)
      const id = `job_${randomId()}`
      const action = { action: 'engines:update', organizationId: installationChain, target: params.model } as const
      const name = file?.name ?? 'the starter weights'
      await change(accounts, principal, action, (_transaction, note) => {
        note({ weights: weightsOf(management, params.model) }, { weights: name })
        return Promise.resolve()
      })
      const chosen = file && { weights: file.path, source: null, sha256: file.sha256 }
      afterwards(() => Promise.resolve(management.jobs.startUse(id, { model: params.model, chosen, name })))
      return { jobId: id }
    },
  }),
  defineRoute({
    ...installationChange,
    method: 'DELETE',
    path: '/api/v1/installation/weights/{weightsId}',
    summary: 'Delete weights that no model has',
    params: z.strictObject({ weightsId }),
    answer: 'nothing',
    async work({ parts: { accounts, management, afterwards }, principal, params }) {
      const file = requireFile(management, params.weightsId)
      const [user] = management.fleet.usersOf(file)
      if (user !== undefined) throw conflict(`${user} has these weights. Give it others first.`)
      const action = { action: 'engines:update', organizationId: installationChain, target: file.id } as const
      await change(accounts, principal, action, (_transaction, note) => {
        note({ file: file.name, bytes: file.bytes }, null)
        return Promise.resolve()
      })
      afterwards(() => Promise.resolve(management.fleet.deleteFile(file)))
    },
  }),
  defineRoute({
    permission: 'engines:update',
    scope: 'installation',
    method: 'POST',
    path: '/api/v1/installation/jobs/{jobId}/cancel',
    summary: 'Stop fetching weights; what has arrived is kept',
    params: z.strictObject({ jobId }),
    answer: 'nothing',
    async work({ parts: { accounts, management, afterwards }, principal, params }) {
      const { id, state, phase } = requireJob(management, params.jobId)
      if (state !== 'under-way' || phase === 'loading') throw conflict('There is nothing to stop any more.')
      const action = { action: 'engines:update', organizationId: installationChain, target: id } as const
      await change(accounts, principal, action, (_transaction, note) => {
        note({ state }, { state: 'cancelled' })
        return Promise.resolve()
      })
      afterwards(() => Promise.resolve(void management.jobs.cancel(id)))
    },
  }),
]

export const fleetRoutes: readonly Route[] = [...reads, ...changes]

function showFile({ fleet }: ManagementParts, file: WeightsFile) {
  const { path: _, changedAtMs, id, ...shown } = file
  return { ...shown, id: id as `weights_${string}`, changedAt: toTime(changedAtMs), usedBy: [...fleet.usersOf(file)] }
}

function showJob({ startedAtMs, endedAtMs, sha256: _, ...shown }: Job) {
  return { ...shown, startedAt: toTime(startedAtMs), endedAt: toTimeOrNull(endedAtMs) }
}

function requireJob({ jobs }: ManagementParts, id: string): Job {
  const found = jobs.find(id)
  if (found === null) throw notFound()
  return found
}

function requireFile({ fleet }: ManagementParts, id: string): WeightsFile {
  const found = fleet.files().find((file) => file.id === id)
  if (found === undefined) throw notFound()
  return found
}

function nameOf({ jobs }: ManagementParts, text: string): string {
  try {
    return jobs.nameOf(text)
  } catch (error) {
    if (error instanceof WeightsSourceError) throw invalidRequest(['source'], null, error.message)
    throw error
  }
}

/** A choice of the config file wins, so that another one here would change nothing. */
function requireOpenChoice({ fleet }: ManagementParts, id: ModelId | null): void {
  if (id === null || !fleet.isFixed(id)) return
  throw conflict(`The config file names weights for ${id}, which win. Remove them there and restart the service.`)
}

function weightsOf({ fleet }: ManagementParts, id: ModelId): string | null {
  return fleet.read().files.find(({ models }) => models.includes(id))?.weights.name ?? null
}
