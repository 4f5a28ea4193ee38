// What an organization sets for the coding agents of its members, as the agent’s own file of managed settings has it. A
// member’s groups give them projects, so what is for a group stands at its project.

import type { Transaction } from 'kysely'
import { invalidRequest } from '../../core/error.ts'
import type { OrganizationId, ProjectId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { change } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import type { AccountsParts } from '../parts.ts'
import { requireProjects } from '../projects.ts'

export type AgentSettings = Readonly<Record<string, unknown>>

/** Null for the organization as a whole. */
export type SettingsOfAgents = { readonly projectId: ProjectId | null; readonly settings: AgentSettings }

export async function listAgentSettings(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly SettingsOfAgents[]> {
  requirePermission(principal, 'settings:read', { organizationId })
  return readSettings(db, organizationId)
}

/** Replaces all that an organization sets. Agents ask for it when they start, and about once an hour. */
export async function setAgentSettings(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, entries }: { organizationId: OrganizationId; entries: readonly SettingsOfAgents[] },
): Promise<void> {
  requirePermission(principal, 'settings:update', { organizationId })
  checkEntries(entries)
  const action = { action: 'settings:agents', organizationId, target: organizationId }
  await change(parts, principal, action, async (transaction, note) => {
    const projectIds = entries.flatMap(({ projectId }) => (projectId === null ? [] : [projectId]))
    await requireProjects(transaction, organizationId, projectIds)
    const before = await readSettings(transaction, organizationId)
    await transaction.deleteFrom('agent_settings').where('organization_id', '=', organizationId).execute()
    const rows = entries.map(({ projectId, settings }) => {
      return {
        organization_id: organizationId,
        project_id: projectId ?? ('' as const),
        settings: JSON.stringify(settings),
      }
    })
    if (rows.length > 0) await transaction.insertInto('agent_settings').values(rows).execute()
    note({ settings: before }, { settings: entries })
  })
}

function checkEntries(entries: readonly SettingsOfAgents[]): void {
  const places = new Set(entries.map(({ projectId }) => projectId))
  if (places.size < entries.length) throw invalidRequest(['data'], 'value', 'A project stands here once.')
}

async function readSettings(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  organizationId: OrganizationId,
): Promise<readonly SettingsOfAgents[]> {
  const rows = await db
    .selectFrom('agent_settings')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('project_id')
    .execute()
  return rows.map(({ project_id, settings }) => {
    return { projectId: project_id === '' ? null : project_id, settings: JSON.parse(settings) as AgentSettings }
  })
}

/** What holds in a project: its own settings go before the organization’s, and of variables each by itself. */
export async function settingsIn(
  { db }: Pick<AccountsParts, 'db'>,
  { organizationId, projectId }: { readonly organizationId: OrganizationId; readonly projectId: ProjectId },
  usual: AgentSettings,
): Promise<AgentSettings> {
  const all = await readSettings(db, organizationId)
  const of = (wanted: ProjectId | null) => all.find((entry) => entry.projectId === wanted)?.settings ?? {}
  return [of(null), of(projectId)].reduce(merge, usual)
}

function merge(under: AgentSettings, over: AgentSettings): AgentSettings {
  const env = { ...asRecord(under['env']), ...asRecord(over['env']) }
  return { ...under, ...over, ...(Object.keys(env).length > 0 && { env }) }
}

function asRecord(value: unknown): AgentSettings {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as AgentSettings) : {}
}
