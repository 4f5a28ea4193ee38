import type { OrganizationId, ProjectId } from '../../core/ids.ts'
import type { LimitSubject } from '../../core/limit.ts'
import { withoutNotice } from '../../accounts/change-access.ts'
import { importApiKey } from '../../accounts/imported-keys.ts'
import { createOrganization, requireOrganization, setOrganizationDisabled } from '../../accounts/organizations.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import { createProject, setProjectArchived } from '../../accounts/projects.ts'
import { joinTransaction } from '../../db/change.ts'
import type { ImportTable } from '../../db/tables/accounts.ts'
import { setBudget } from '../../limits/settings/budget-settings.ts'
import { setLimit } from '../../limits/settings/limit-settings.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { MovePlan, OrganizationSource, PlannedKey, PlannedProject, ProjectSource } from './litellm-plan.ts'

const operator = { kind: 'operator' } as const

/** What a thing of the plan became, and whether it was there already. */
export type Moved = { readonly kind: 'organization' | 'project' | 'key'; readonly id: string; readonly isNew: boolean }

export type MoveOutcome = {
  /** In the order of the plan: organizations, projects, keys. */
  readonly organizations: readonly Moved[]
  readonly projects: readonly Moved[]
  readonly keys: readonly Moved[]
  readonly limits: number
  readonly budgets: number
}

type MoveTarget = {
  readonly accounts: AccountsParts
  /** Where that goes which belongs to no organization there. */
  readonly organizationId: OrganizationId
  /** Whether it is to last: otherwise all is made, and undone again at the end. */
  readonly isToLast: boolean
}

/**
 * Makes what the plan says, all or nothing.
 *
 * What an earlier move has made stays as it is, with its limits and budgets: whoever has changed it here since had a
 * reason. A trial makes the same and undoes it, so that it says exactly what would come.
 */
export async function carryOutMove(target: MoveTarget, plan: MovePlan): Promise<MoveOutcome> {
  const { accounts, isToLast } = target
  try {
    return await accounts.db.transaction().execute(async (transaction) => {
      const parts = { ...withoutNotice(accounts), db: joinTransaction(transaction) }
      await requireOrganization(parts.db, target.organizationId)
      const outcome = await new Move(parts, target.organizationId).carryOut(plan)
      if (!isToLast) throw new Undone(outcome)
      return outcome
    })
  } catch (error) {
    if (error instanceof Undone) return error.outcome
    throw error
  }
}

/** Ends the transaction of a trial. */
class Undone extends Error {
  readonly outcome: MoveOutcome

  constructor(outcome: MoveOutcome) {
    super('This was a trial.')
    this.outcome = outcome
  }
}

type Home = { readonly organizationId: OrganizationId; readonly projectId: ProjectId }
type Kind = Exclude<ImportTable['kind'], 'key'>

class Move {
  readonly #parts: AccountsParts
  readonly #target: OrganizationId
  #limits = 0
  #budgets = 0

  constructor(parts: AccountsParts, target: OrganizationId) {
    this.#parts = parts
    this.#target = target
  }

  async carryOut(plan: MovePlan): Promise<MoveOutcome> {
    const [organizations, projects, keys]: [Moved[], Moved[], Moved[]] = [[], [], []]
    for (const one of plan.organizations) organizations.push(await this.#moveOrganization(one))
    for (const one of plan.projects) projects.push(await this.#moveProject(one))
    for (const one of plan.keys) keys.push(await this.#moveKey(one))
    // After the keys, which would not be taken into what is closed.
    for (const [index, { isBlocked, source }] of plan.projects.entries()) {
      if (!isBlocked || projects[index]?.isNew !== true) continue
      const { organizationId, projectId: id } = await this.#homeOf(source)
      await setProjectArchived(this.#parts, operator, { organizationId, id }, true)
    }
    for (const [index, { isBlocked }] of plan.organizations.entries()) {
      const { id, isNew } = organizations[index] ?? { id: '', isNew: false }
      if (!isBlocked || !isNew) continue
      await setOrganizationDisabled(this.#parts, operator, { organizationId: id as OrganizationId, isDisabled: true })
    }
    return { organizations, projects, keys, limits: this.#limits, budgets: this.#budgets }
  }

  async #moveOrganization({ source, name, ...planned }: MovePlan['organizations'][number]): Promise<Moved> {
    const known = await this.#find(source.kind, source.id)
    if (known !== null) return { kind: 'organization', id: known, isNew: false }
    const { organizationId: id, projectId } = await createOrganization(this.#parts, operator, { name })
    await this.#note(source.kind, source.id, id)
    await this.#note('rest', this.#idOfRest(source), projectId)
    await this.#allow(id, { kind: 'organization', id }, planned)
    return { kind: 'organization', id, isNew: true }
  }

  async #moveProject({ source, organization, name, ...planned }: PlannedProject): Promise<Moved> {
    const known = await this.#find(source.kind, source.id)
    if (known !== null) return { kind: 'project', id: known, isNew: false }
    const organizationId = await this.#organizationOf(organization)
    const id = await createProject(this.#parts, operator, { organizationId, name })
    await this.#note(source.kind, source.id, id)
    await this.#allow(organizationId, { kind: 'project', id }, planned)
    return { kind: 'project', id, isNew: true }
  }

  async #moveKey({ project, isBlocked, expiresAtMs, models, endpoints, ...key }: PlannedKey): Promise<Moved> {
    const home = await this.#homeOf(project)
    const rules = { expiresAtMs, models, endpoints }
    try {
      const { id, isNew } = await importApiKey(this.#parts, operator, { ...home, ...key, isDisabled: isBlocked, rules })
      if (isNew) await this.#allow(home.organizationId, { kind: 'api-key', id }, key)
      return { kind: 'key', id, isNew }
    } catch (error) {
      throw new Error(`The key ${key.name} cannot be moved: ${messageOf(error)}`, { cause: error })
    }
  }

  async #allow(
    organizationId: OrganizationId,
    subject: LimitSubject,
    { limits, budget }: Pick<PlannedKey, 'limits' | 'budget'>,
  ): Promise<void> {
    for (const limit of limits) await setLimit(this.#parts, operator, { organizationId, subject, ...limit })
    if (budget !== null) await setBudget(this.#parts, operator, { organizationId, subject, ...budget })
    this.#limits += limits.length
    this.#budgets += budget === null ? 0 : 1
  }

  async #organizationOf(source: OrganizationSource | null): Promise<OrganizationId> {
    if (source === null) return this.#target
    return ((await this.#find(source.kind, source.id)) ?? this.#target) as OrganizationId
  }

  /** The project that a key goes into; that of keys which are in none is made when the first of them needs it. */
  async #homeOf(source: ProjectSource): Promise<Home> {
    const sourceId = source.kind === 'rest' ? this.#idOfRest(source.of) : source.id
    const known = (await this.#find(source.kind, sourceId)) as ProjectId | null
    if (known === null) {
      const organizationId = await this.#organizationOf(source.kind === 'rest' ? source.of : null)
      const projectId = await createProject(this.#parts, operator, { organizationId, name: 'LiteLLM' })
      await this.#note(source.kind, sourceId, projectId)
      return { organizationId, projectId }
    }
    const { organization_id: organizationId } = await this.#parts.db
      .selectFrom('projects')
      .select('organization_id')
      .where('id', '=', known)
      .executeTakeFirstOrThrow()
    return { organizationId, projectId: known }
  }

  #idOfRest(of: OrganizationSource | null): string {
    return of === null ? this.#target : `${of.kind} ${of.id}`
  }

  async #find(kind: Kind, id: string): Promise<string | null> {
    const row = await this.#parts.db
      .selectFrom('imports')
      .select('target_id')
      .where('source', '=', 'litellm')
      .where('kind', '=', kind)
      .where('source_id', '=', id)
      .executeTakeFirst()
    return row?.target_id ?? null
  }

  async #note(kind: Kind, id: string, target: string): Promise<void> {
    const row = { source: 'litellm', kind, source_id: id, target_id: target, at: this.#parts.clock.nowMs() } as const
    await this.#parts.db.insertInto('imports').values(row).execute()
  }
}
