import { z } from 'zod'
import {
  deleteProjectRecordings,
  findRecordingTarget,
  readProjectRecording,
  readRecording,
  recordingDaysMax,
  setProjectRecording,
  type ProjectRecording,
} from '../../../accounts/recordings/recordings.ts'
import { conflict } from '../../../core/error.ts'
import type { RequestId } from '../../../core/ids.ts'
import { recordingStates } from '../../../db/tables/accounts.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { id, inOrganization, projectId, time, toTime, toTimeOrNull } from '../schemas.ts'

export const recordingState = z
  .enum(recordingStates)
  .describe('What was said is kept, or was not: it was too large, or too much was being kept at that moment.')

const days = z
  .int()
  .min(1)
  .max(recordingDaysMax)
  .describe(
    'How many days what is said is kept, and no longer than the request’s row in the ledger. What was kept before stays as long as was said then.',
  )

const settings = z
  .strictObject({
    isOn: z.boolean(),
    days,
    endsAt: time.nullable().describe('When it ends by itself; null while it is off.'),
    kept: z
      .strictObject({ requests: z.int(), bytes: z.int() })
      .describe('What is kept of the project’s requests now, and what it takes in the database.'),
  })
  .meta({ id: 'ProjectRecording' })

const changed = z
  .discriminatedUnion('isOn', [
    z.strictObject({
      isOn: z.literal(true),
      days,
      endsAt: time.describe(`When it ends by itself: within ${recordingDaysMax} days.`),
    }),
    z.strictObject({ isOn: z.literal(false) }),
  ])
  .meta({ id: 'ProjectRecordingChanges' })

const block = z.strictObject({
  kind: z.enum(['thinking', 'text', 'tool-call']),
  id: z.string().optional().describe('Of a call alone.'),
  name: z.string().optional().describe('Which tool is called.'),
  text: z.string().describe('Of a call, its arguments as JSON.'),
})

const recording = z
  .strictObject({
    state: recordingState,
    endsAt: time.describe('When it is deleted, or before with the request’s row in the ledger.'),
    protocol: z.string().nullable().describe('The wire format; null, like all that follows, where nothing was kept.'),
    body: z.string().nullable().describe('The request as it came.'),
    answers: z
      .array(
        z.strictObject({
          blocks: z.array(block),
          reason: z.string().nullable().describe('Why it ended; null where it broke off.'),
        }),
      )
      .nullable(),
  })
  .meta({ id: 'Recording' })

const path = '/api/v1/organizations/{organizationId}/projects/{projectId}/recording'
const inProject = inOrganization.extend({ projectId })
const ofRequest = inOrganization.extend({ requestId: id('req') })

function show({ untilMs, ...rest }: ProjectRecording): z.input<typeof settings> {
  return { ...rest, isOn: untilMs !== null, endsAt: toTimeOrNull(untilMs) }
}

function requireEnabled({ management }: Pick<RouteParts, 'management'>): Uint8Array {
  if (management.recordingKey !== null) return management.recordingKey
  throw conflict('Whoever runs this installation lets nothing of what is said be kept.')
}

export const recordingRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/requests/{requestId}/recording',
    permission: 'recordings:read',
    async scope({ accounts }, params) {
      const target = await findRecordingTarget(accounts.db, params['requestId'] as RequestId)
      return target?.organizationId === params['organizationId'] ? target : null
    },
    summary: 'Read what was said in a request, where its project has that kept; each reading is in the audit',
    params: ofRequest,
    answer: recording,
    async work({ parts, principal, params }) {
      const key = requireEnabled(parts)
      const { state, endsAtMs, content } = await readRecording(parts.accounts, principal, key, params.requestId)
      const endsAt = toTime(endsAtMs)
      if (content === null) return { state, endsAt, protocol: null, body: null, answers: null }
      const answers = content.answers.map(({ blocks, reason }) => ({ blocks: [...blocks], reason }))
      return { ...content, state, endsAt, answers }
    },
  }),
  defineRoute({
    method: 'GET',
    path,
    permission: 'projects:read',
    scope: 'organization',
    summary: 'Read whether what is said in a project’s requests is kept',
    params: inProject,
    answer: settings,
    async work({ parts, principal, params }) {
      return show(await readProjectRecording(parts.accounts, principal, params))
    },
  }),
  defineRoute({
    method: 'PUT',
    path,
    permission: 'recordings:update',
    scope: 'organization',
    summary: 'Have what is said in a project’s requests kept until a time, or no longer',
    params: inProject,
    body: changed,
    example: { isOn: false },
    needsProof: true,
    answer: settings,
    async work({ parts, principal, params, body }) {
      if (body.isOn) requireEnabled(parts)
      const wanted = body.isOn ? { untilMs: Date.parse(body.endsAt), days: body.days } : null
      await setProjectRecording(parts.accounts, principal, params, wanted)
      return show(await readProjectRecording(parts.accounts, principal, params))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/requests`,
    permission: 'recordings:update',
    scope: 'organization',
    summary: 'Delete all that is kept of what was said in a project’s requests',
    params: inProject,
    needsProof: true,
    answer: 'nothing',
    async work({ parts, principal, params }) {
      await deleteProjectRecordings(parts.accounts, principal, params)
    },
  }),
]
