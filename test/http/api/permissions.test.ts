import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { z } from 'zod'
import { setOrganizationDisabled } from '../../../src/accounts/organizations.ts'
import { relaxConnection } from '../../../src/accounts/single-sign-on/enforcement.ts'
import { setProjectArchived } from '../../../src/accounts/projects.ts'
import { ApiError } from '../../../src/core/error.ts'
import type { MemberId } from '../../../src/core/ids.ts'
import { may, permissions, requirePermission, visibleProjects } from '../../../src/core/permission.ts'
import type { Principal } from '../../../src/core/principal.ts'
import { roles, type Role } from '../../../src/core/role.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { statusOf } from '../../../src/http/api/carry-out.ts'
import { defineRoute, type Route } from '../../../src/http/api/route.ts'
import { routes } from '../../../src/http/api/routes.ts'
import { nowhere } from '../../../src/http/api/schemas.ts'
import { operatorKey, testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { nameOf, peoplesRoutes, permittedRoutes, requestFor, thingsNamed, type PermittedRoute } from './ask-route.ts'
import { createThings, renewThings, type Things } from './things.ts'
import { createCompany, type Company } from './world.ts'

const operator = { kind: 'operator' } as const

/** Where what is asked about lies, seen from who asks. */
const relations = ['own', 'sibling', 'other'] as const
type Relation = (typeof relations)[number]

type Actor = {
  readonly name: string
  /** Null for nobody. */
  readonly principal: Principal | null
  readonly headers: Readonly<Record<string, string>>
}

describe('what each route lets each role do', () => {
  let service: ManagementService
  let own: Company
  let other: Company
  let actors: readonly Actor[]
  const standing = new Map<string, Things>()

  before(async () => {
    service = await openManagementService(await openMemoryDatabase())
    own = await createCompany(service.accounts)
    other = await createCompany(service.accounts)
    actors = await createActors()
  })
  after(() => service.close())

  async function createActors(): Promise<readonly Actor[]> {
    const made: Actor[] = [
      { name: 'nobody', principal: null, headers: {} },
      { name: 'operator', principal: operator, headers: { authorization: `Bearer ${operatorKey}` } },
    ]
    for (const role of roles) {
      const { headers } = await signInPerson(service.accounts, { memberId: own.members[role].memberId })
      made.push({ name: `${role} member`, principal: own.members[role], headers })
      const person = await signInPerson(service.accounts, { installationRole: role })
      made.push({ name: `${role} of the installation`, principal: person.user, headers: person.headers })
      made.push(await createKeyActor(role, own.organizationId), await createKeyActor(role, null))
    }
    return made
  }

  async function createKeyActor(role: Role, organizationId: Company['organizationId'] | null): Promise<Actor> {
    const headers = { 'x-api-key': await service.createKey(role, organizationId) }
    const principal = { kind: 'management-key', managementKeyId: 'mkey_any', organizationId, role } as const
    return {
      name: `${role} key of ${organizationId === null ? 'the installation' : 'the organization'}`,
      principal,
      headers,
    }
  }

  /** Whoever is a member owns the key that is asked about; else the developer does. */
  const ownerOf = ({ principal }: Actor, relation: Relation): MemberId => {
    if (relation === 'other') return other.members.developer.memberId
    return principal?.kind === 'member' ? principal.memberId : own.members.developer.memberId
  }

  /** What stands there; where a route will change what it names, that is made anew first. */
  async function thingsFor(actor: Actor, relation: Relation, changing: Route | null): Promise<Things> {
    const company = relation === 'other' ? other : own
    const projectId = relation === 'sibling' ? own.siblingId : company.projectId
    const ownerId = ownerOf(actor, relation)
    const wanted = { company, projectId, ownerId }
    const key = `${projectId} ${ownerId}`
    const known = standing.get(key) ?? (await createThings(service.accounts, wanted))
    standing.set(key, known)
    return changing === null ? known : renewThings(service.accounts, wanted, { known, names: thingsNamed(changing) })
  }

  for (const route of permittedRoutes) {
    for (const relation of relations) {
      test(`${nameOf(route)}, ${relation}`, async () => {
        for (const actor of actors) {
          const known = await thingsFor(actor, relation, null)
          const status = expectedStatus(route, actor, known, ownerOf(actor, relation))
          const isChange = status < 300 && route.method !== 'GET'
          const things = isChange ? await thingsFor(actor, relation, route) : known
          const answer = await ask(route, actor, things)
          equal(answer.status, status, `${actor.name}: ${answer.text}`)
          checkAnswer(route, answer)
          if (status < 300) await undo(route, things)
        }
      })
    }
  }

  async function ask(route: Route, { headers }: Actor, things: Things): Promise<Answer> {
    return service.ask({ ...(await requestFor(service, route, things)), headers })
  }

  /** Some changes would be in the way of what is asked next. */
  async function undo({ path }: Route, { organizationId, projectId, connectionId }: Things): Promise<void> {
    if (path.endsWith('/enforce')) {
      await relaxConnection({ ...service.accounts, signIn: testSignIn }, operator, { id: connectionId, organizationId })
    }
    // What the installation has set, an organization does not change.
    if (path.endsWith('/limits') || path.endsWith('/budgets')) {
      await service.db.updateTable('limits').set({ set_by: 'organization' }).execute()
      await service.db.updateTable('budgets').set({ set_by: 'organization' }).execute()
    }
    if (path.endsWith('/archive')) {
      await setProjectArchived(service.accounts, operator, { id: projectId, organizationId }, false)
    }
    if (path.endsWith('{organizationId}/disable')) {
      await setOrganizationDisabled(service.accounts, operator, { organizationId, isDisabled: false })
    }
  }

  const nowhereAtAll = {
    organizationId: 'org_nowhere',
    projectId: 'proj_nowhere',
    memberId: 'mem_nowhere',
    userId: 'usr_nowhere',
    operatorEmail: 'nobody@example.org',
    operatorId: 'usr_nowhere',
    apiKeyId: 'key_nowhere',
    managementKeyId: 'mkey_nowhere',
    sessionId: 'ses_nowhere',
    invitationId: 'inv_nowhere',
    invitationToken: 'nowhere',
    connectionId: 'conn_nowhere',
    samlConnectionId: 'conn_nowhere',
    domainId: 'dom_nowhere',
    directoryId: 'dir_nowhere',
    serviceAccountId: 'svc_nowhere',
    roleId: 'role_nowhere',
    breakGlassId: 'mem_nowhere',
    limitId: 'limit_nowhere',
    budgetId: 'budget_nowhere',
    alertId: 'alert_nowhere',
    channelId: 'chan_nowhere',
    silenceId: 'silence_nowhere',
    installationChannelId: 'chan_nowhere',
    installationSilenceId: 'silence_nowhere',
    sinkId: 'sink_nowhere',
    installationSinkId: 'sink_nowhere',
    priceId: 'price_nowhere',
    requestId: 'req_nowhere',
    rowId: 'audit_nowhere',
    installationRowId: 'audit_nowhere',
    model: 'nowhere',
    swapId: 'nowhere',
    limitRequestId: 'ask_nowhere',
    weightsId: 'weights_nowhere',
    pool: 'nowhere',
    jobId: 'job_nowhere',
    tier: 'nowhere',
    level: 'nowhere',
    tile: 'nowhere',
    month: '2099-01',
    invoiceNumber: '999999',
  } as const

  const actorOf = (name: string): Actor => {
    const actor = actors.find((known) => known.name === name)
    if (actor === undefined) throw new Error(`There is no ${name}.`)
    return actor
  }

  test('what belongs to another organization is answered like what is nowhere', async () => {
    const actor = actorOf('owner key of the organization')
    const foreign = await thingsFor(actor, 'other', null)
    const mixed = { ...foreign, organizationId: own.organizationId }
    const within = { ...nowhereAtAll, organizationId: own.organizationId }
    for (const route of permittedRoutes.filter(({ path, scope }) => path.includes('{') && scope !== 'installation')) {
      const answers: Answer[] = [await ask(route, actor, foreign), await ask(route, actor, nowhereAtAll)]
      // The ids of what is inside, asked for under one's own organization. A month is everybody's, and so are the places in a log.
      if (/\{(?!organizationId|month|level|tile)/.test(route.path)) {
        answers.push(await ask(route, actor, mixed), await ask(route, actor, within))
      }
      const [first, ...rest] = answers.map(({ status, body }) => ({ status, body: { ...body, instance: null } }))
      equal(first?.status, 404, nameOf(route))
      for (const answer of rest) deepEqual(answer, first, nameOf(route))
    }
  })

  test('what is nowhere is not found by whoever may do everything either', async () => {
    const actor = actorOf('operator')
    for (const route of permittedRoutes.filter(
      ({ path }) => path.includes('{') && !path.includes('api/v1/management-keys'),
    )) {
      equal((await ask(route, actor, nowhereAtAll)).status, 404, nameOf(route))
    }
  })
})

function expectedStatus(route: PermittedRoute, { principal }: Actor, things: Things, ownerId: MemberId): number {
  if (principal === null) return 401
  const { permission, scope, path } = route
  try {
    if (scope === 'installation') return may(principal, permission, { organizationId: null }) ? statusOf(route) : 403
    const { organizationId, projectId } = things
    const isInProject =
      /\{(projectId|apiKeyId|requestId|serviceAccountId)\}/.test(path) || permission === 'api-keys:create'
    if (isInProject && !permission.startsWith('members:')) {
      requirePermission(principal, permission, { organizationId, projectId, ownerId })
    } else if (scope === 'organization' || scope === 'subject') visibleProjects(principal, permission, organizationId)
    else ok(['organizations:read', 'prices:read', 'tiers:read'].includes(permission), 'Everyone may read these.')
    if (scope === 'own' && !hasAnyReach(principal)) return 403
    return statusOf(route)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.code === 'not-found' ? 404 : 403
  }
}

function hasAnyReach(principal: Principal): boolean {
  return may(principal, 'prices:read', {
    organizationId: principal.kind === 'operator' ? null : principal.organizationId,
  })
}

/** Answers are what the table says of them, and errors tell no more than they should. */
function checkAnswer({ answer: schema }: Route, { status, headers, text, body }: Answer): void {
  const isKept = schema === 'bytes' && status < 400
  match(String(headers['cache-control']), isKept ? /^private, / : /^no-store$/)
  if (status >= 400) {
    match(String(headers['content-type']), /^application\/problem\+json(;|$)/)
    deepEqual(
      Object.keys(body).filter((field) => field !== 'errors'),
      ['type', 'title', 'status', 'detail', 'instance'],
    )
    return
  }
  if (schema === 'nothing') return equal(text, '')
  if (schema === 'export' || schema === 'events' || schema === 'bytes') return
  const { error } = schema.safeParse(body)
  equal(error && z.prettifyError(error), undefined)
}

describe('what nobody but a person may do', () => {
  let service: ManagementService
  before(async () => {
    service = await openManagementService(await openMemoryDatabase())
  })
  after(() => service.close())

  for (const route of peoplesRoutes.filter(({ permission }) => permission === 'self')) {
    test(`${nameOf(route)} is opened by no key`, async () => {
      const path = route.path.replaceAll('{agentId}', 'agt_any').replaceAll(/\{\w+\}/g, 'ses_any')
      const body = route.example === undefined ? {} : { body: route.example }
      for (const headers of [{}, { 'x-api-key': service.key }, { authorization: `Bearer ${operatorKey}` }]) {
        const answer = await service.ask({ method: route.method, path, headers, ...body })
        equal(answer.status, 401, answer.text)
        checkAnswer(route, answer)
      }
    })
  }

  for (const route of peoplesRoutes.filter(({ method }) => method !== 'GET')) {
    test(`${nameOf(route)} is refused where a page of another site asks for it`, async () => {
      const path = route.path.replaceAll('{agentId}', 'agt_any').replaceAll(/\{\w+\}/g, 'ses_any')
      const body = route.example === undefined ? {} : { body: route.example }
      const { headers } = await signInPerson(service.accounts, {})
      const foreign: readonly Record<string, string>[] = [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { origin: 'null' },
        { origin: 'https://evil.example' },
        { origin: 'http://localhost:9999', host: 'localhost:8080' },
        {},
      ]
      for (const site of foreign) {
        const cookie = { cookie: headers['cookie'] ?? '' }
        const answer = await service.ask({ method: route.method, path, headers: { ...cookie, ...site }, ...body })
        const isUnknown =
          route.permission === 'self' && ['cross-site', 'same-site'].includes(site['sec-fetch-site'] ?? '')
        equal(answer.status, isUnknown ? 401 : 403, `${JSON.stringify(site)} ${answer.text}`)
      }
    })
  }
})

describe('the table of routes', () => {
  test('every route of the management API asks for a permission', () => {
    for (const route of permittedRoutes) ok(permissions.includes(route.permission), nameOf(route))
    // @ts-expect-error -- A route without a permission does not compile.
    defineRoute({
      method: 'GET',
      path: '/api/v1/things',
      scope: 'own',
      summary: '',
      params: nowhere,
      answer: z.strictObject({}),
      work: () => Promise.resolve({}),
    })
  })

  test('every route of the management API is there once, with an example of its body', () => {
    equal(new Set(routes.map(nameOf)).size, routes.length)
    for (const { body, example, path } of routes) {
      equal(example !== undefined, body !== null, path)
      if (body !== null) body.parse(example)
    }
  })

  test('a route of the management API that changes something has a method that says so', () => {
    for (const { method, path, permission } of permittedRoutes)
      equal(method === 'GET', permission.endsWith(':read') || path.endsWith('/preview'), `${path} ${permission}`)
  })
})
