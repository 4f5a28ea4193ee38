import { z } from 'zod'
import {
  addDomain,
  listDomains,
  readDomain,
  removeDomain,
  verifyDomain,
  type Domain,
} from '../../../accounts/single-sign-on/domains.ts'
import { defineRoute, type Route } from '../route.ts'
import { id, inOrganization, time, toTime, toTimeOrNull } from '../schemas.ts'
import { signInParts } from '../sign-in/schemas.ts'

const domainId = id('dom')
const path = '/api/v1/organizations/{organizationId}/domains'
const inDomain = inOrganization.extend({ domainId })

const domain = z
  .strictObject({
    id: domainId,
    name: z.string(),
    record: z
      .strictObject({ name: z.string(), value: z.string() })
      .describe('The TXT record that shows that the domain is the organization’s own.'),
    verifiedAt: time.nullable(),
    checkedAt: time
      .nullable()
      .describe('When the domain’s servers last said what there is; null where the operator vouches for it.'),
    missingSince: time.nullable().describe('Since when they have said that there is no such record.'),
    lapsesAt: time
      .nullable()
      .describe('When the domain counts for nothing any more, unless the record is back by then.'),
    createdAt: time,
  })
  .meta({ id: 'Domain' })

function show({ id: own, name, record, createdAtMs, ...times }: Domain): z.input<typeof domain> {
  return {
    id: own,
    name,
    record: { ...record },
    verifiedAt: toTimeOrNull(times.verifiedAtMs),
    checkedAt: toTimeOrNull(times.checkedAtMs),
    missingSince: toTimeOrNull(times.missingSinceMs),
    lapsesAt: toTimeOrNull(times.lapsesAtMs),
    createdAt: toTime(createdAtMs),
  }
}

export const domainRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'connections:read',
    scope: 'organization',
    summary: 'List the organization’s domains of e-mail addresses',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(domain), next: z.null() }),
    async work({ parts, principal, params }) {
      return { data: (await listDomains(parts.accounts, principal, params.organizationId)).map(show), next: null }
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'connections:create',
    scope: 'organization',
    summary: 'Add a domain; it counts for nothing until it is verified',
    params: inOrganization,
    body: z.strictObject({ name: z.string().min(3).max(253) }).meta({ id: 'NewDomain' }),
    example: { name: 'acme.example' },
    answer: domain,
    async work({ parts, principal, params, body }) {
      const made = await addDomain(signInParts(parts), principal, { ...params, ...body })
      return show(await readDomain(parts.accounts, principal, { ...params, id: made }))
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/{domainId}/verify`,
    permission: 'connections:update',
    scope: 'organization',
    summary: 'Look for the record of a domain, and take it for the organization’s own if it is there',
    params: inDomain,
    answer: domain,
    async work({ parts, principal, params: { domainId: chosen, ...params } }) {
      const reference = { ...params, id: chosen }
      await verifyDomain({ ...signInParts(parts), sso: parts.management.sso }, principal, reference)
      return show(await readDomain(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{domainId}`,
    permission: 'connections:remove',
    scope: 'organization',
    summary: 'Remove a domain',
    params: inDomain,
    answer: 'nothing',
    work: ({ parts, principal, params: { domainId: chosen, ...params } }) =>
      removeDomain(signInParts(parts), principal, { ...params, id: chosen }),
  }),
]
