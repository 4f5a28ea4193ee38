import { z } from 'zod'
import {
  allowAgent,
  denyAgent,
  endOwnAgent,
  findWaitingAgent,
  listAgents,
  type AgentProject,
  type ListedAgent,
} from '../../../accounts/agents/sign-ins.ts'
import { listAgentSettings, setAgentSettings, type SettingsOfAgents } from '../../../accounts/agents/agent-settings.ts'
import { ApiError } from '../../../core/error.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { id, inOrganization, nowhere, organizationId, projectId, time, toTime } from '../schemas.ts'
import { requireSession, signInParts } from './schemas.ts'

const agentId = id('agt')
const path = '/api/v1/me/agents'
const code = z.string().min(8).max(20).describe('The code that the agent shows.')
const example = { code: 'WDJB-MJHT' }

const waiting = z
  .strictObject({
    client: z.string().describe('What the agent says of itself.'),
    address: z.string().describe('Where it asked from.'),
    begunAt: time,
    projects: z
      .array(z.strictObject({ organizationId, organizationName: z.string(), projectId, projectName: z.string() }))
      .describe('Where its requests may count.'),
  })
  .meta({ id: 'WaitingAgent' })

const agent = z
  .strictObject({
    id: agentId,
    client: z.string(),
    address: z.string(),
    organizationId,
    projectId,
    createdAt: time,
    endsAt: time.describe('When it has to be signed in to again.'),
  })
  .meta({ id: 'Agent' })
const list = z.strictObject({ data: z.array(agent), next: z.null() })

const facts = { permission: 'self', scope: 'installation', params: nowhere, isForVouched: true } as const

const entry = z
  .strictObject({
    projectId: projectId.nullable().describe('Null is the organization as a whole; a project’s own go before that.'),
    settings: z
      .record(z.string().min(1).max(200), z.unknown())
      .describe('As Claude Code has them in its managed-settings.json.'),
  })
  .meta({ id: 'AgentSettings' })
const entries = z.strictObject({ data: z.array(entry).max(200) })
const shown = z.strictObject({ data: z.array(entry), next: z.null() })

const settingsFacts = {
  path: '/api/v1/organizations/{organizationId}/agent-settings',
  scope: 'organization',
  params: inOrganization,
  answer: shown,
} as const

const settingsRoutes: readonly Route[] = [
  defineRoute({
    ...settingsFacts,
    method: 'GET',
    permission: 'settings:read',
    summary: 'List what is set for the coding agents that members sign in to',
    work: async ({ parts, principal, params }) =>
      showSettings(await listAgentSettings(parts.accounts, principal, params.organizationId)),
  }),
  defineRoute({
    ...settingsFacts,
    method: 'PUT',
    permission: 'settings:update',
    needsProof: true,
    summary: 'Set it, in the place of what was set before. It reaches members’ machines, where it may start programs',
    body: entries,
    example: { data: [{ projectId: null, settings: { env: { ANTHROPIC_MODEL: 'clarke-1.0' } } }] },
    async work({ parts, principal, params, body }) {
      await setAgentSettings(parts.accounts, principal, { ...params, entries: body.data })
      return showSettings(await listAgentSettings(parts.accounts, principal, params.organizationId))
    },
  }),
]

function showSettings(found: readonly SettingsOfAgents[]): z.input<typeof shown> {
  return { data: found.map(({ settings, ...rest }) => ({ ...rest, settings: { ...settings } })), next: null }
}

export const agentRoutes: readonly Route[] = [
  ...settingsRoutes,
  defineRoute({
    ...facts,
    method: 'GET',
    path,
    summary: 'List the coding agents that one is signed in to',
    answer: list,
    work: async ({ parts }) => show(await listAgents(signInParts(parts), { userId: requireSession(parts).user.id })),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/look`,
    hasOwnTransactions: true,
    summary: 'Look at the coding agent that shows a code',
    body: z.strictObject({ code }),
    example,
    answer: waiting,
    work: ({ parts, body }) =>
      holdGuesses(parts, async () => {
        const { begunAtMs, projects, ...rest } = await findWaitingAgent(
          signInParts(parts),
          requireSession(parts),
          body.code,
        )
        return { ...rest, begunAt: toTime(begunAtMs), projects: projects.map(showProject) }
      }),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path,
    hasOwnTransactions: true,
    summary: 'Sign in to the coding agent that shows a code; what it asks counts in the project',
    body: z.strictObject({ code, organizationId, projectId }),
    example: { ...example, organizationId: 'org_nowhere', projectId: 'proj_nowhere' },
    answer: 'nothing',
    work: ({ parts, body }) => holdGuesses(parts, () => allowAgent(signInParts(parts), requireSession(parts), body)),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/deny`,
    hasOwnTransactions: true,
    summary: 'Turn the coding agent away that shows a code',
    body: z.strictObject({ code }),
    example,
    answer: 'nothing',
    work: ({ parts, body }) =>
      holdGuesses(parts, () => denyAgent(signInParts(parts), requireSession(parts), body.code)),
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{agentId}`,
    summary: 'Sign out a coding agent of one’s own',
    params: z.strictObject({ agentId }),
    answer: 'nothing',
    work: ({ parts, params }) => endOwnAgent(signInParts(parts), requireSession(parts), params.agentId),
  }),
]

function show(agents: readonly ListedAgent[]): z.input<typeof list> {
  const data = agents.map(({ createdAtMs, endsAtMs, ...rest }) => {
    return { ...rest, createdAt: toTime(createdAtMs), endsAt: toTime(endsAtMs) }
  })
  return { data, next: null }
}

function showProject({ id: shownId, name, ...rest }: AgentProject) {
  return { ...rest, projectId: shownId, projectName: name }
}

/** A code that is nobody's counts as a failed attempt of the network. */
async function holdGuesses<Result>(
  { attempts, browser }: Pick<RouteParts, 'attempts' | 'browser'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not-found') {
      await attempts.hold(browser.address, { shown: 'code of an agent' })
    }
    throw error
  }
}
