import { limitFields } from '../../core/limit-fields.ts'
import type { ModelId } from '../../core/model.ts'
import { listLimits, removeLimit, setLimit } from '../../limits/settings/limit-settings.ts'
import { operator, print, readOrganizationId, requireId, withInstallation } from '../accounts/with-installation.ts'
import { textTable } from '../billing/text-table.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { fieldOptions, limitCells, readFieldValues } from './field-options.ts'
import { readSubject, subjectOptions } from './limit-options.ts'
import type { Limit } from '../../limits/settings/setting.ts'
import { type TierId, tierIds } from '../../core/tier.ts'
import { assignTier, listTiers, setTierLimit } from '../../limits/settings/tiers.ts'

const options = {
  ...subjectOptions,
  model: { type: 'string', default: '*' },
  ...fieldOptions(limitFields),
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey limits`: works on the database directly; a running service takes a change up within a second. */
export async function limitsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { list: 0, set: 0, remove: 1 } })
  const [action, id] = positionals
  if (action === 'list') await withInstallation((installation) => list(installation, values))
  else if (action === 'set') await withInstallation((installation) => set(installation, values))
  else if (action === 'remove') await withInstallation((installation) => remove(installation, values, id))
  else throw new UsageError('limits takes list, set or remove ID.')
}

async function list(installation: Installation, { organization, json }: Values): Promise<void> {
  const limits = await listLimits(installation.accounts, operator, readOrganizationId(organization, installation))
  if (limits.length === 0) return print(json, [], ['limits: none.'])
  const head = ['for', 'model', ...Object.values(limitFields).map(({ heading }) => heading), 'id']
  print(json, limits, [textTable([head, ...limits.map(toCells)])])
}

/** Sets all of them: what is not given is not limited, as in the management API. */
async function set(installation: Installation, values: Values): Promise<void> {
  const reference = readSubject(installation, values)
  // A model that is not known is refused where the limit is checked.
  const wanted = { ...reference, model: values.model as ModelId | '*', ...readFieldValues(limitFields, values) }
  const { id, subject } = await setLimit(installation.accounts, operator, wanted)
  const whichModel = values.model === '*' ? 'all models together' : values.model
  print(values.json, { id }, [`${id} limits ${subject.id} with ${whichModel}.`])
}

async function remove(
  installation: Installation,
  { organization, json }: Values,
  given: string | undefined,
): Promise<void> {
  const reference = { id: requireId(given, 'limit'), organizationId: readOrganizationId(organization, installation) }
  await removeLimit(installation.accounts, operator, reference)
  print(json, reference, [`${reference.id} is removed.`])
}

function toCells(limit: Limit): string[] {
  return [limit.subject.id, limit.model === '*' ? 'all' : limit.model, ...limitCells(limit), limit.id]
}

const tierOptions = {
  organization: { type: 'string' },
  model: { type: 'string' },
  ...fieldOptions(limitFields),
  json: { type: 'boolean', default: false },
} as const

type TierValues = ReturnType<typeof parseArguments<{ args: string[]; options: typeof tierOptions }>>['values']

/** `odyssey tiers`: works on the database directly, as `limits` does. */
export async function tiersCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: tierOptions, words: { list: 0, set: 1, assign: 1 } })
  const [action, tier] = positionals
  if (action === 'list') await withInstallation((installation) => showTiers(installation, values))
  else if (action === 'set')
    await withInstallation((installation) => setLimitOfTier(installation, values, requireTier(tier)))
  else if (action === 'assign')
    await withInstallation((installation) => assignOrganization(installation, values, requireTier(tier)))
  else throw new UsageError('tiers takes list, set TIER or assign TIER.')
}

async function showTiers({ accounts }: Installation, { json }: TierValues): Promise<void> {
  const tiers = await listTiers(accounts, operator)
  const head = ['tier', 'refuses', 'model', ...Object.values(limitFields).map(({ heading }) => heading)]
  const rows = tiers.flatMap(({ id, isEnforced, limits }) =>
    limits.map((limit) => {
      return [id, isEnforced ? 'yes' : 'no', limit.model === '*' ? 'all' : limit.model, ...limitCells(limit)]
    }),
  )
  print(json, tiers, [textTable([head, ...rows])])
}

/** Sets all of a model's: what is not given is not limited, as in the management API. */
async function setLimitOfTier({ accounts }: Installation, values: TierValues, tier: TierId): Promise<void> {
  if (values.model === undefined) throw new UsageError("This needs --model MODEL, or --model '*' for all together.")
  // A model that is not known is refused where the limit is checked.
  const wanted = { tier, model: values.model as ModelId | '*', ...readFieldValues(limitFields, values) }
  const limit = await setTierLimit(accounts, operator, wanted)
  print(values.json, limit, [`${tier} is changed for ${limit.model === '*' ? 'all models together' : limit.model}.`])
}

async function assignOrganization(
  { accounts }: Installation,
  { organization, json }: TierValues,
  tier: TierId,
): Promise<void> {
  if (organization === undefined) throw new UsageError('This needs --organization ID.')
  const organizationId = requireId(organization, 'org')
  await assignTier(accounts, operator, { organizationId, tier })
  print(json, { organizationId, tier }, [`${organizationId} is in ${tier}.`])
}

function requireTier(text: string | undefined): TierId {
  const tier = tierIds.find((id) => id === text)
  if (tier === undefined) throw new UsageError(`The tiers are ${tierIds.join(', ')}.`)
  return tier
}
