// What is made here of a LiteLLM: its organizations and teams as ours, its keys under the hashes it has of them.
//
//     --teams projects         organization → organization, team → project
//     --teams organizations    team → organization, project → project

import type { ModelId } from '../../core/model.ts'
import { isPrintable } from '../../lib/is-printable.ts'
import { formats } from '../../protocols/formats.ts'
import { planAllowances, type Allowances, type LiteLlmAllowances } from './litellm-allowances.ts'
import type { ModelNames } from './litellm-models.ts'
import type { LiteLlmRow, LiteLlmTables } from './litellm-tables.ts'

export type OrganizationSource = { readonly kind: 'organization' | 'team'; readonly id: string }
type NamedProject = { readonly kind: 'team' | 'project'; readonly id: string }
/** `rest` is of those keys that are in no project, in an organization that is moved or (null) the one that is moved into. */
export type ProjectSource = NamedProject | { readonly kind: 'rest'; readonly of: OrganizationSource | null }

type Planned = Pick<Allowances, 'limits' | 'budget'> & { readonly name: string; readonly isBlocked: boolean }
export type PlannedOrganization = Planned & { readonly source: OrganizationSource }
export type PlannedProject = Planned & {
  readonly source: NamedProject
  readonly organization: OrganizationSource | null
}
export type PlannedKey = Planned & {
  readonly project: ProjectSource
  readonly sha256: string
  readonly lastFour: string
  readonly expiresAtMs: number | null
  readonly models: readonly ModelId[] | null
  readonly endpoints: readonly string[] | null
}

/** What cannot be carried over, or is less here, and why. */
export type MoveNote = { readonly about: string; readonly says: string }

export type MovePlan = {
  readonly organizations: readonly PlannedOrganization[]
  readonly projects: readonly PlannedProject[]
  readonly keys: readonly PlannedKey[]
  readonly notes: readonly MoveNote[]
}

export type TeamsAs = 'projects' | 'organizations'

type Known = {
  readonly tables: LiteLlmTables
  readonly names: ModelNames
  readonly teamsAs: TeamsAs
  readonly nowMs: number
  readonly notes: MoveNote[]
  readonly budgets: ReadonlyMap<string, LiteLlmRow<'LiteLLM_BudgetTable'>>
  readonly organizations: ReadonlyMap<string, LiteLlmRow<'LiteLLM_OrganizationTable'>>
  readonly teams: ReadonlyMap<string, LiteLlmRow<'LiteLLM_TeamTable'>>
  readonly projects: ReadonlyMap<string, LiteLlmRow<'LiteLLM_ProjectTable'>>
}

type MoveSources = Pick<Known, 'tables' | 'names' | 'teamsAs' | 'nowMs'>

export function planMove(sources: MoveSources): MovePlan {
  const { tables } = sources
  const notes: MoveNote[] = []
  const known: Known = {
    ...sources,
    notes,
    budgets: new Map(tables.LiteLLM_BudgetTable.map((row) => [row.budget_id, row])),
    organizations: new Map(tables.LiteLLM_OrganizationTable.map((row) => [row.organization_id, row])),
    teams: new Map(tables.LiteLLM_TeamTable.map((row) => [row.team_id, row])),
    projects: new Map(tables.LiteLLM_ProjectTable.map((row) => [row.project_id, row])),
  }
  const made = sources.teamsAs === 'projects' ? planTeamsAsProjects(known) : planTeamsAsOrganizations(known)
  const keys = tables.LiteLLM_VerificationToken.flatMap((row) => planKey(known, row))
  noteOthers(known)
  return { ...made, keys, notes }
}

type Made = Pick<MovePlan, 'organizations' | 'projects'>

function planTeamsAsProjects(known: Known): Made {
  for (const { project_id: id, project_alias: alias } of known.projects.values()) {
    note(known, `project ${alias ?? id}`, 'its keys go into the project of its team, without limits of its own')
  }
  const organizations = Array.from(known.organizations.values(), (row) => {
    const { organization_id: id, organization_alias: alias } = row
    return {
      source: { kind: 'organization' as const, id },
      isBlocked: false,
      ...common(known, 'organization', { id, alias, row }),
    }
  })
  const projects = Array.from(known.teams.values(), (row) => {
    const { team_id: id, team_alias: alias, blocked: isBlocked } = row
    const source = { kind: 'team', id } as const
    return {
      source,
      organization: organizationOfTeam(known, row),
      isBlocked,
      ...common(known, 'team', { id, alias, row }),
    }
  })
  return { organizations, projects }
}

function planTeamsAsOrganizations(known: Known): Made {
  for (const { organization_id: id, organization_alias: alias } of known.organizations.values()) {
    note(known, `organization ${alias ?? id}`, 'its teams become organizations, above which there is nothing here')
  }
  const organizations = Array.from(known.teams.values(), (row) => {
    const { team_id: id, team_alias: alias, blocked: isBlocked } = row
    return { source: { kind: 'team' as const, id }, isBlocked, ...common(known, 'team', { id, alias, row }) }
  })
  const projects = Array.from(known.projects.values(), (row) => {
    const { project_id: id, project_alias: alias, blocked: isBlocked, team_id: team } = row
    const source = { kind: 'project', id } as const
    return { source, organization: teamSource(known, team), isBlocked, ...common(known, 'project', { id, alias, row }) }
  })
  return { organizations, projects }
}

function organizationOfTeam(known: Known, { organization_id: id }: { readonly organization_id: string | null }) {
  return id !== null && known.organizations.has(id) ? ({ kind: 'organization', id } as const) : null
}

function teamSource(known: Known, id: string | null) {
  return id !== null && known.teams.has(id) ? ({ kind: 'team', id } as const) : null
}

type Named = { readonly id: string; readonly alias: string | null; readonly row: Limited }
type Limited = LiteLlmAllowances & {
  readonly budget_id?: string | null
  readonly metadata?: Readonly<Record<string, unknown>>
}

function common(known: Known, kind: string, { id, alias, row }: Named) {
  const name = showable(alias ?? '') ? (alias ?? '').trim() : `LiteLLM ${id.slice(0, 8)}`
  const { limits, budget } = allowancesOf(known, `${kind} ${name}`, row)
  return { name, limits, budget }
}

const nameLengthMax = 200

function showable(name: string): boolean {
  return name.trim() !== '' && name.trim().length <= nameLengthMax && isPrintable(name.trim())
}

/** What a row says itself goes before what the budget says that it names. */
function allowancesOf(known: Known, about: string, row: Limited): Pick<Allowances, 'limits' | 'budget'> {
  const named = known.budgets.get(row.budget_id ?? '')
  const own = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && !isEmpty(value)))
  const of = (name: string) => row.metadata?.[name] as Readonly<Record<string, unknown>> | undefined
  const { notes, ...planned } = planAllowances(
    {
      ...named,
      model_rpm_limit: of('model_rpm_limit') ?? {},
      model_tpm_limit: of('model_tpm_limit') ?? {},
      spend: null,
      ...own,
    },
    (model) => known.names.find(model),
  )
  for (const says of notes) note(known, about, says)
  return planned
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

type KeyRow = LiteLlmRow<'LiteLLM_VerificationToken'>

/** Sessions of LiteLLM's own pages are keys of this team. */
const sessionTeam = 'litellm-dashboard'

function planKey(known: Known, row: KeyRow): PlannedKey[] {
  if (row.team_id === sessionTeam) return []
  const name = nameOfKey(row)
  const about = `key ${name}`
  const models = modelsOf(known, row)
  const endpoints = endpointsOf(row.allowed_routes)
  const reason = reasonToLeaveOut(known, row, { models, endpoints })
  if (reason !== null) {
    note(known, about, `is left out: ${reason}`)
    return []
  }
  if (!isEmpty(row.aliases)) note(known, about, 'its aliases are left out: clients name the models that there are here')
  if (!isEmpty(row.metadata['guardrails'] ?? [])) note(known, about, 'its guardrails are left out')
  return [
    {
      project: projectOf(known, row),
      sha256: row.token,
      name,
      lastFour: /^sk-\.\.\.(\S{4})$/.exec(row.key_name ?? '')?.[1] ?? '',
      isBlocked: row.blocked,
      expiresAtMs: row.expires,
      models: models && [...models],
      endpoints,
      ...allowancesOf(known, about, row),
    },
  ]
}

type Confined = { readonly models: ReadonlySet<ModelId> | null; readonly endpoints: readonly string[] | null }

function reasonToLeaveOut(
  { nowMs }: Known,
  { token, expires }: KeyRow,
  { models, endpoints }: Confined,
): string | null {
  if (!/^[0-9a-f]{64}$/.test(token)) return 'it does not begin with sk-, so LiteLLM takes it no more than this service'
  if (expires !== null && expires <= nowMs) return `it has ended on ${new Date(expires).toISOString().slice(0, 10)}`
  if (models?.size === 0) return 'none of its models has a counterpart here'
  return endpoints?.length === 0 ? 'it may ask nothing that is answered here' : null
}

function nameOfKey({ key_alias: alias, key_name: shown, token }: KeyRow): string {
  if (showable(alias ?? '')) return (alias ?? '').trim()
  return showable(shown ?? '') ? (shown ?? '').trim() : `LiteLLM ${token.slice(0, 8)}`
}

function projectOf(known: Known, row: KeyRow): ProjectSource {
  const { team_id: team, project_id: project, organization_id: organization } = row
  if (known.teamsAs === 'organizations') {
    if (project !== null && known.projects.has(project)) return { kind: 'project', id: project }
    return { kind: 'rest', of: teamSource(known, team) }
  }
  return teamSource(known, team) ?? { kind: 'rest', of: organizationOfTeam(known, { organization_id: organization }) }
}

/** A key may do what it, its project, its team and its organization all allow. */
function modelsOf({ names, teams, projects, organizations }: Known, row: KeyRow): ReadonlySet<ModelId> | null {
  const team = teams.get(row.team_id ?? '')
  const project = projects.get(row.project_id ?? '')
  const organization = organizations.get(row.organization_id ?? team?.organization_id ?? '')
  const own = row.models.filter((name) => name !== 'all-team-models')
  const lists = [own, project?.models ?? [], team?.models ?? [], organization?.models ?? []]
  return lists
    .map((list) => names.allowed(list))
    .reduce((one, other) => (one === null || other === null ? (one ?? other) : one.intersection(other)), null)
}

const modelsEndpoint = 'models'

/** The endpoints that routes stand for; null where they confine to none that there is here. */
function endpointsOf(routes: readonly string[]): readonly string[] | null {
  if (routes.length === 0 || routes.some((route) => route === 'llm_api_routes' || route === '/*')) return null
  const paths = formats.flatMap((format) => format.routes)
  const found = routes.flatMap((route) => {
    if (route === 'openai_routes') return ['chat-completions', modelsEndpoint]
    if (route === 'anthropic_routes') return ['messages', 'count-tokens']
    const path = route.startsWith('/v1/') ? route : `/v1${route}`
    if (path === '/v1/models') return [modelsEndpoint]
    return paths.filter((one) => one.path === path).map(({ endpoint }) => endpoint)
  })
  return [...new Set(found)]
}

function noteOthers(known: Known): void {
  const { tables } = known
  const limitsOf = (row: Limited) => {
    const { limits, budget } = allowancesOf({ ...known, notes: [] }, '', row)
    return limits.length > 0 || budget !== null
  }
  const count = (about: string, rows: readonly unknown[], says: string) => {
    if (rows.length > 0) note(known, `${about} (${rows.length})`, says)
  }
  const users = tables.LiteLLM_UserTable
  count('users', users, 'not made here: invite them, or let them sign in by their provider')
  const limited = users.filter((row) => limitsOf({ ...row, spend: null }))
  count(
    'users with limits or budgets',
    limited,
    'left out: limits and budgets are for organizations, projects and keys here',
  )
  const owned = tables.LiteLLM_VerificationToken.filter((row) => row.user_id !== null && row.team_id !== sessionTeam)
  count('keys of users', owned, 'moved as keys of no person')
  const within = tables.LiteLLM_TeamMembership.filter(({ budget_id: id }) => id !== null)
  count('budgets of users within a team', within, 'left out')
  const customers = tables.LiteLLM_EndUserTable.filter(({ budget_id: id, blocked }) => id !== null || blocked)
  count('end users with a budget or blocked', customers, 'left out: whom a request is for counts for nothing here')
}

function note({ notes }: Known, about: string, says: string): void {
  notes.push({ about, says })
}
