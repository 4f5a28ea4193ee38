import type { Page } from 'playwright-core'
import { askApi } from '../harness/ask.ts'

type Named = { readonly id: string }

const people = [
  { email: 'bo@example.com', name: 'Bo Chen', role: 'admin' },
  { email: 'cy@example.com', name: 'Cy Diaz', role: 'developer' },
  { email: 'dee@example.com', name: 'Dee Fox', role: 'billing' },
  { email: 'eve@example.com', name: 'Eve Gray', role: 'auditor' },
] as const

/** Gives an organization a little of everything, so that its pages show what they are for. */
export async function furnishOrganization(page: Page, organizationId: string): Promise<void> {
  const within = `/api/v1/organizations/${organizationId}`
  const ask = async <Answer = Named>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await askApi(page, method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.body as Answer
  }
  const make = <Answer = Named>(path: string, body: unknown, method = 'POST') =>
    ask<Answer>(method, within + path, body)
  const { data } = await ask<{ readonly data: readonly Named[] }>('GET', `${within}/projects`)
  const { id: search } = await make('/projects', { name: 'Search' })
  const projectIds = [data[0]?.id ?? '', search]
  for (const person of people) await make('/members', { ...person, projectIds })
  const permissions = ['members:read', 'api-keys:read', 'requests:read', 'audit:read']
  const support = await make('/roles', { name: 'Support', base: 'admin', permissions })
  const helper = await make('/members', { email: 'fin@example.com', name: 'Fin Hill', role: 'auditor' })
  await make(`/members/${helper.id}`, { role: support.id }, 'PATCH')
  for (const [name, key] of [
    ['Search in production', 'indexer'],
    ['Nightly report', 'cron'],
  ] as const) {
    const { id: serviceAccountId } = await make('/service-accounts', { name, projectId: search })
    await make('/api-keys', { name: key, projectId: search, serviceAccountId })
  }
  const organization = { kind: 'organization', id: organizationId }
  const perMinute = { inputTokensPerMinute: 400_000, outputTokensPerMinute: 80_000, requestsPerMinute: 600 }
  await make('/limits', { subject: organization, model: '*', ...perMinute }, 'PUT')
  const project = { kind: 'project', id: search }
  await make('/limits', { subject: project, model: 'hal-1.0', inputTokensPerMinute: 100_000, concurrency: 4 }, 'PUT')
  const budget = { period: 'month', alertPercents: [50, 80, 100] }
  await make('/budgets', { subject: organization, ...budget, microsMax: 40_000 }, 'PUT')
  await make('/budgets', { subject: project, ...budget, tokensMax: 2_000_000 }, 'PUT')
  const topics = ['budget.threshold', 'requests.failing', 'availability.burning']
  await make('/alert-channels', { kind: 'log', name: 'Our log', topics })
  await ask('POST', '/api/v1/objectives', { availabilityPpm: 999_000, basis: 'minutes', effectiveAt: null })
  const provider = { name: 'Okta', issuer: 'https://acme.okta.com', clientId: 'odyssey', clientSecret: 'not a secret' }
  await make('/connections', provider)
  await make('/domains', { name: 'acme.example' })
  await make('/directories', { name: 'Okta' })
}
