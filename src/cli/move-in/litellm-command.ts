import { readVariable } from '../../config/load.ts'
import type { ModelId } from '../../core/model.ts'
import { openInstallation } from '../../service/joins/open-installation.ts'
import { carryOutMove, type MoveOutcome, type Moved } from '../../service/move-in/carry-out-move.ts'
import {
  ModelNames,
  readLiteLlmConfig,
  readModelMapping,
  requireModel,
  type LiteLlmConfig,
  type MappedModel,
} from '../../service/move-in/litellm-models.ts'
import { planMove, type MovePlan, type PlannedKey, type TeamsAs } from '../../service/move-in/litellm-plan.ts'
import { readExportFolder, readLiteLlmDatabase, type LiteLlmTables } from '../../service/move-in/litellm-tables.ts'
import { showDay } from '../accounts/moments.ts'
import { print, readOrganizationId, withInstallation } from '../accounts/with-installation.ts'
import { formatMicros } from '../billing/money-text.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'

const text = { type: 'string' } as const
const options = {
  config: text,
  export: text,
  'database-variable': text,
  model: { type: 'string', multiple: true, default: [] as string[] },
  models: text,
  teams: { type: 'string', default: 'projects' },
  organization: text,
  apply: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey import litellm`: works on the database directly; a running service takes the keys up within a second. */
export async function litellmCommand(args: string[]): Promise<void> {
  const { values } = parseArguments({ args, options })
  const teamsAs = readTeams(values.teams)
  const mapping = await readMapping(values)
  const config = values.config === undefined ? null : await readLiteLlmConfig(values.config)
  const tables = await readSource(values)
  if (config === null && tables === null) {
    throw new UsageError(
      'This needs --export FOLDER or --database-variable NAME, or --config FILE alone for the models.',
    )
  }
  const names = new ModelNames(mapping, tables, config)
  // Moving in may well be the first that is done with a data folder.
  await withInstallation(async (installation) => {
    const { accounts } = installation
    const plan: MovePlan =
      tables === null
        ? { organizations: [], projects: [], keys: [], notes: [] }
        : planMove({ tables, names, teamsAs, nowMs: accounts.clock.nowMs() })
    const organizationId = readOrganizationId(values.organization, installation)
    const outcome = await carryOutMove({ accounts, organizationId, isToLast: values.apply }, plan)
    const report = { isApplied: values.apply, models: names.list(), plan, outcome, byHand: config?.byHand ?? [] }
    print(values.json, toJson(report), toLines(report))
  }, openInstallation)
}

function readTeams(given: string): TeamsAs {
  if (given === 'projects' || given === 'organizations') return given
  throw new UsageError('--teams takes projects or organizations.')
}

async function readMapping({ model: pairs, models: file }: Values): Promise<Map<string, ModelId>> {
  const mapping = file === undefined ? new Map<string, ModelId>() : await readModelMapping(file)
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=')
    if (at < 1) throw new UsageError('--model takes a name there and a model here, as gpt-4o=clarke-1.0.')
    mapping.set(pair.slice(0, at), requireModel(pair.slice(at + 1)))
  }
  return mapping
}

async function readSource(values: Values): Promise<LiteLlmTables | null> {
  const { export: folder, 'database-variable': variable } = values
  if (folder !== undefined && variable !== undefined) {
    throw new UsageError('Give --export or --database-variable, not both.')
  }
  if (folder !== undefined) return readExportFolder(folder)
  if (variable === undefined) return null
  const url = readVariable(variable)
  if (url === null) throw new UsageError(`The environment has no ${variable}, the address of LiteLLM’s database.`)
  return readLiteLlmDatabase(url)
}

type Report = {
  readonly isApplied: boolean
  readonly models: readonly MappedModel[]
  readonly plan: MovePlan
  readonly outcome: MoveOutcome
  readonly byHand: LiteLlmConfig['byHand']
}

/** Neither a key's hash nor more of it than people may see. */
function toJson({ isApplied, models, plan, outcome, byHand }: Report) {
  const list = (things: readonly { readonly name: string }[], moved: readonly Moved[]) =>
    things.map(({ name, ...thing }, index) => {
      const { sha256: _, ...shown } = thing as Partial<PlannedKey>
      const { id, isNew } = moved[index] ?? { id: null, isNew: false }
      // Of a trial nothing is left, so that its ids name nothing.
      return { name, id: isApplied || !isNew ? id : null, isNew, ...shown }
    })
  return {
    isApplied,
    models,
    organizations: list(plan.organizations, outcome.organizations),
    projects: list(plan.projects, outcome.projects),
    keys: list(plan.keys, outcome.keys),
    limits: outcome.limits,
    budgets: outcome.budgets,
    notes: plan.notes,
    byHand,
  }
}

function toLines({ isApplied, models, plan, outcome, byHand }: Report): string[] {
  const section = (title: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', title, ...lines])
  const list = (things: readonly Parameters<typeof describe>[0][], moved: readonly Moved[]) =>
    things.flatMap((thing, index) => (moved[index]?.isNew === true ? [`  ${describe(thing)}`] : []))
  const all = [...outcome.organizations, ...outcome.projects, ...outcome.keys]
  const there = all.filter(({ isNew }) => !isNew).length
  return [
    isApplied ? 'This is made.' : 'This would be made; --apply makes it.',
    ...section('Models', models.map(describeModel)),
    ...section('Organizations', list(plan.organizations, outcome.organizations)),
    ...section('Projects', list(plan.projects, outcome.projects)),
    ...section('Keys', list(plan.keys, outcome.keys)),
    ...section(
      'Not carried over, or less',
      plan.notes.map(({ about, says }) => `  ${about}: ${says}`),
    ),
    ...section(
      'To be set by hand',
      byHand.map((line) => `  ${line}`),
    ),
    '',
    `${all.length - there} new, ${there} there already and left as they are; ${outcome.limits} limits, ${outcome.budgets} budgets.`,
  ]
}

function describeModel({ name, model, suggested }: MappedModel): string {
  if (model !== null) return `  ${name} becomes ${model}`
  return suggested === null
    ? `  ${name} has no counterpart here`
    : `  ${name} becomes nothing yet; by its name it could be ${suggested}: --model ${name}=${suggested}`
}

function describe(thing: Pick<PlannedKey, 'name' | 'limits' | 'budget' | 'isBlocked'> & Partial<PlannedKey>): string {
  const { name, limits, budget, isBlocked, lastFour = '', expiresAtMs = null, models = null, endpoints = null } = thing
  const facts = [
    ...(models === null ? [] : [models.join(', ')]),
    ...(endpoints === null ? [] : [`for ${endpoints.join(', ')}`]),
    ...limits.map(describeLimit),
    ...(budget === null ? [] : [`${formatMicros(BigInt(budget.microsMax))} in a ${budget.period}`]),
    ...(expiresAtMs === null ? [] : [`until ${showDay(expiresAtMs)}`]),
    ...(isBlocked ? ['blocked'] : []),
  ]
  const shown = lastFour === '' ? name : `${name} (…${lastFour})`
  return facts.length === 0 ? shown : `${shown}: ${facts.join('; ')}`
}

function describeLimit({ model, requestsPerMinute, inputTokensPerMinute, concurrency }: PlannedKey['limits'][number]) {
  const say = (count: number | null | undefined, what: string) =>
    typeof count === 'number' ? [`${count} ${what}`] : []
  const parts = [
    ...say(requestsPerMinute, 'requests/min'),
    ...say(inputTokensPerMinute, 'tokens/min each way'),
    ...say(concurrency, 'at a time'),
  ]
  return parts.join(', ') + (model === '*' ? '' : ` of ${model}`)
}
