import { z } from 'zod'
import { requireOrganization } from '../../../../accounts/organizations.ts'
import { isMonth, monthOf, periodOf } from '../../../../billing/availability/month.ts'
import {
  listObjectives,
  setObjective,
  usualCredits,
  type Objective,
} from '../../../../billing/availability/objectives.ts'
import { readCurrent, readReports } from '../../../../billing/availability/read-reports.ts'
import { budgetLeft, showModel, type SlaNumbers } from '../../../../billing/availability/report.ts'
import type { OrganizationId } from '../../../../core/ids.ts'
import { notFound } from '../../../../core/permission.ts'
import { onePiece, writeExport } from '../../export.ts'
import { defineRoute, type Call, type Route } from '../../route.ts'
import { costMicros, givenTime, id, inOrganization, nowhere, organizationId, time, toTime } from '../../schemas.ts'

const ppm = z.int().min(0).max(1_000_000).describe('In millionths: 999000 is 99.9 %.')
const credits = z
  .array(z.strictObject({ belowPpm: ppm, percent: z.int().min(1).max(100) }))
  .max(10)
  .describe('Which share of a month’s charges for a model is given back below which availability, the mildest first.')

const promised = {
  availabilityPpm: ppm,
  basis: z.enum(['minutes', 'requests']).describe('What is counted.'),
  downSharePpm: ppm.min(1).describe('A minute is down from this share of bad requests on.'),
  firstTokenMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .nullable()
    .describe('A later first token is bad; null agrees on nothing.'),
  credits,
}

const objectiveId = id('slo')
const objective = z
  .strictObject({
    id: objectiveId,
    organizationId: organizationId.nullable().describe('Null is everyone for whom nothing else was agreed.'),
    effectiveAt: time,
    ...promised,
  })
  .meta({ id: 'Objective' })

const newObjective = z
  .strictObject({
    organizationId: organizationId.nullable().default(null),
    effectiveAt: givenTime.nullable().default(null).describe('Null is now; what is past cannot be promised anew.'),
    availabilityPpm: promised.availabilityPpm.default(999_000),
    basis: promised.basis.default('minutes'),
    downSharePpm: promised.downSharePpm.default(50_000),
    firstTokenMs: promised.firstTokenMs.default(null),
    credits: credits.default([...usualCredits]),
  })
  .meta({ id: 'NewObjective' })

const share = ppm.nullable().describe('In millionths, rounded down; null where nothing was counted.')
const modelAvailability = z
  .strictObject({
    model: z.string(),
    minutes: z.strictObject({ counted: z.int(), down: z.int(), excluded: z.number() }),
    requests: z.strictObject({
      valid: z.int(),
      bad: z.int(),
      slow: z.int().describe('Of the bad ones, those whose first token came too late.'),
      unserved: z.int().describe('Of the bad ones, those that have no row in the ledger.'),
    }),
    uptimePpm: z.strictObject({ minutes: share, requests: share }),
    down: z.array(
      z.strictObject({
        from: time,
        until: time,
        minutes: z.int(),
        causes: z.array(z.string()).describe('`gateway`, `model` with the error behind a colon, or `requests`.'),
        valid: z.int(),
        bad: z.int(),
      }),
    ),
  })
  .meta({ id: 'ModelAvailability' })

const month = z
  .strictObject({
    month: z.string(),
    measuredFrom: time,
    measuredUntil: time,
    objective: z.strictObject({ id: objectiveId.nullable(), ...promised }),
    models: z.array(
      modelAvailability.extend({
        budgetLeftPpm: z
          .int()
          .describe('What of the downtime allowed is left, in millionths of it; below zero, what is over.'),
        creditMicros: costMicros.describe('What is given back of this model’s charges.'),
      }),
    ),
    unreadRequests: z.int().describe('Those that failed before it was known for which model.'),
    exclusions: z.array(z.strictObject({ id: z.string(), from: time, until: time, reason: z.string() })),
    report: z.string().nullable().describe('The signed note, once the month is closed.'),
    versions: z.int().describe('How many reports were signed; more than one where it was corrected.'),
  })
  .meta({ id: 'AvailabilityMonth' })

function showObjective({ id: own, effectiveAtMs, credits: steps, ...rest }: Objective): z.input<typeof objective> {
  return { ...rest, id: own as z.input<typeof objectiveId>, effectiveAt: toTime(effectiveAtMs), credits: [...steps] }
}

function showMonth(name: string, numbers: SlaNumbers): Omit<z.input<typeof month>, 'report' | 'versions'> {
  const { window, objective: agreed, exclusions } = numbers
  return {
    month: name,
    measuredFrom: toTime(window.fromMs),
    measuredUntil: toTime(window.untilMs),
    objective: { ...agreed, id: agreed.id as z.input<typeof objectiveId> | null, credits: [...agreed.credits] },
    models: numbers.models.map((one) => {
      const { micros } = numbers.credits.find(({ model }) => model === one.model) ?? { micros: 0n }
      return { ...showModel(one), budgetLeftPpm: budgetLeft(agreed, one, periodOf(name)), creditMicros: String(micros) }
    }),
    unreadRequests: numbers.unread,
    exclusions: exclusions.map(({ fromMs, untilMs, ...rest }) => ({
      ...rest,
      from: toTime(fromMs),
      until: toTime(untilMs),
    })),
  }
}

async function readMonth(
  { parts: { accounts }, principal }: Pick<Call<unknown, unknown, unknown>, 'parts' | 'principal'>,
  organization: OrganizationId,
  name: string,
): Promise<z.input<typeof month>> {
  const { db, clock, currency } = accounts
  const question = { organizationId: organization, month: name, currency }
  const reports = await readReports(db, principal, question)
  const numbers = await readCurrent(db, principal, { ...question, nowMs: clock.nowMs() })
  return { ...showMonth(name, numbers), report: reports[0]?.note ?? null, versions: reports.length }
}

async function* inOnePage<Row>(rows: readonly Row[]): AsyncGenerator<readonly Row[]> {
  yield rows
}

const monthName = z.string().refine(isMonth, 'must be a month such as 2026-11')

export const availabilityRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/sla/current',
    permission: 'availability:read',
    scope: 'organization',
    summary: 'Show how available the models were to an organization this month, and what is left of the error budget',
    params: inOrganization,
    answer: month,
    work: (call) => readMonth(call, call.params.organizationId, monthOf(call.parts.accounts.clock.nowMs())),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/sla/{month}',
    permission: 'availability:read',
    scope: 'organization',
    summary: 'Show how available the models were in a month, with the signed report once it is closed',
    params: inOrganization.extend({ month: monthName }),
    answer: month,
    work: (call) => readMonth(call, call.params.organizationId, call.params.month),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/sla/{month}/export',
    permission: 'availability:read',
    scope: 'organization',
    summary:
      'Save the signed report of a month that is closed, for `odyssey sla verify`, or when models were down as CSV',
    params: inOrganization.extend({ month: monthName }),
    query: z.strictObject({ format: z.enum(['signed', 'csv']).default('signed') }),
    answer: 'export',
    async work({ parts: { accounts }, principal, params, query: { format } }) {
      const { db, clock, currency } = accounts
      const name = `sla-${params.organizationId}-${params.month}`
      if (format === 'csv') {
        const { models } = await readCurrent(db, principal, { ...params, currency, nowMs: clock.nowMs() })
        const rows = models.map(showModel).flatMap(({ model, down }) => {
          return down.map(({ causes, ...interval }) => ({ model, ...interval, causes: causes.join(' ') }))
        })
        const columns = ['model', 'from', 'until', 'minutes', 'causes', 'valid', 'bad']
        return writeExport('csv', { name, columns, pages: inOnePage(rows) })
      }
      const [newest] = await readReports(db, principal, params)
      if (newest === undefined) throw notFound()
      return { contentType: 'text/plain; charset=utf-8', fileName: `${name}.txt`, chunks: onePiece(newest.note) }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/objectives',
    permission: 'availability:read',
    scope: 'organization',
    summary: 'List what was promised to an organization, also as one of all, the oldest first',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(objective) }),
    async work({ parts: { accounts }, principal, params }) {
      return { data: (await listObjectives(accounts.db, principal, params.organizationId)).map(showObjective) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/objectives',
    permission: 'objectives:update',
    scope: 'installation',
    summary: 'Promise an availability from a moment on, to everyone or to one organization',
    params: nowhere,
    body: newObjective,
    example: { availabilityPpm: 999_000, basis: 'minutes', effectiveAt: '2099-01-01T00:00:00Z' },
    answer: objective,
    async work({ parts: { accounts }, principal, body: { effectiveAt, organizationId: whose, ...wanted } }) {
      if (whose !== null) await requireOrganization(accounts.db, whose)
      const effectiveAtMs = effectiveAt === null ? null : Date.parse(effectiveAt)
      return showObjective(await setObjective(accounts, principal, { ...wanted, organizationId: whose, effectiveAtMs }))
    },
  }),
]
