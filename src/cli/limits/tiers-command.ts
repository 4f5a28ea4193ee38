import { limitFields } from '../../core/limit-fields.ts'
import type { ModelId } from '../../core/model.ts'
import { tierIds, type TierId } from '../../core/tier.ts'
import { assignTier, listTiers, setTierLimit } from '../../limits/settings/tiers.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { operator, print, requireId, withInstallation } from '../accounts/with-installation.ts'
import { textTable } from '../billing/text-table.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { fieldOptions, limitCells, readFieldValues } from './field-options.ts'

const options = {
  organization: { type: 'string' },
  model: { type: 'string' },
  ...fieldOptions(limitFields),
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey tiers`: works on the database directly, as `limits` does. */
export async function tiersCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, tier] = positionals
  if (action === 'list') await withInstallation((installation) => list(installation, values))
  else if (action === 'set') await withInstallation((installation) => set(installation, values, requireTier(tier)))
  else if (action === 'assign')
    await withInstallation((installation) => assign(installation, values, requireTier(tier)))
  else throw new UsageError('tiers takes list, set TIER or assign TIER.')
}

async function list({ accounts }: Installation, { json }: Values): Promise<void> {
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
async function set({ accounts }: Installation, values: Values, tier: TierId): Promise<void> {
  if (values.model === undefined) throw new UsageError("This needs --model MODEL, or --model '*' for all together.")
  // A model that is not known is refused where the limit is checked.
  const wanted = { tier, model: values.model as ModelId | '*', ...readFieldValues(limitFields, values) }
  const limit = await setTierLimit(accounts, operator, wanted)
  print(values.json, limit, [`${tier} is changed for ${limit.model === '*' ? 'all models together' : limit.model}.`])
}

async function assign({ accounts }: Installation, { organization, json }: Values, tier: TierId): Promise<void> {
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
