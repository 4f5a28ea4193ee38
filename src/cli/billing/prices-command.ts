import type { Rates, Price } from '../../billing/prices/price.ts'
import { listPrices, setPrice, voidPrice } from '../../billing/prices/prices.ts'
import { modelIds } from '../../core/model.ts'
import { operator, requireId, withInstallation } from '../accounts/with-installation.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { formatMicros, parseMicros } from './money-text.ts'
import { parseMoment } from './period.ts'
import { textTable } from './text-table.ts'
import { writeOut } from './write-out.ts'

const options = {
  input: { type: 'string' },
  'cache-read': { type: 'string' },
  'cache-write': { type: 'string' },
  'cache-write-long': { type: 'string' },
  output: { type: 'string' },
  organization: { type: 'string' },
  from: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey prices`: what a million tokens cost, from when on, and for whom. */
export async function pricesCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words: { list: 0, set: 1, end: 1, void: 1 } })
  const [action, model] = positionals
  if (action === 'list') await withInstallation(({ db }, config) => list(db, config.billing.currency, values.json))
  else if (action === 'set') await set(requireModel(model), values, readRates(values))
  else if (action === 'end') await set(requireModel(model), values, null)
  else if (action === 'void') await voidById(requireId(model ?? '', 'price'))
  else throw new UsageError('prices takes list, set MODEL, end MODEL or void PRICE.')
}

async function set(model: string, { organization, from, json }: Values, rates: Rates | null): Promise<void> {
  const organizationId = organization === undefined ? null : requireId(organization, 'org')
  const effectiveAtMs = from === undefined ? null : parseMoment(from, '--from')
  await withInstallation(async ({ accounts: { db, clock } }, config) => {
    const { currency } = config.billing
    const price = await setPrice({ db, clock, currency }, operator, { organizationId, model, effectiveAtMs, rates })
    const effective = new Date(price.effectiveAtMs).toISOString()
    const what = rates === null ? `${model} has no price` : `${price.id} is the price of ${model}`
    const whose = organizationId === null ? '' : ` for ${organizationId}`
    await writeOut(json ? `${JSON.stringify(toJson(price))}\n` : `${what}${whose} from ${effective} on.\n`)
  })
}

const rateOptions = {
  input: 'input',
  cacheRead: 'cache-read',
  cacheWriteShort: 'cache-write',
  cacheWriteLong: 'cache-write-long',
  output: 'output',
} as const satisfies Readonly<Record<keyof Rates, keyof typeof options>>
const rateNames = Object.keys(rateOptions) as (keyof Rates)[]

/** One that is left out is asked for and never taken as zero. */
function readRates(values: Values): Rates {
  const missing = rateNames.map((name) => rateOptions[name]).filter((option) => values[option] === undefined)
  if (missing.length > 0) {
    throw new UsageError(
      `prices set needs every rate, per million tokens: ${missing.map((name) => `--${name}`).join(', ')} missing.`,
    )
  }
  const entries = rateNames.map((name) => [
    name,
    parseMicros(values[rateOptions[name]] ?? '', `--${rateOptions[name]}`),
  ])
  return Object.fromEntries(entries) as Rates
}

async function voidById(id: string): Promise<void> {
  await withInstallation(async ({ accounts: { db, clock } }, config) => {
    await voidPrice({ db, clock, currency: config.billing.currency }, operator, id)
    await writeOut(`${id} is void.\n`)
  })
}

async function list(db: Installation['db'], ownCurrency: string, asJson: boolean): Promise<void> {
  const prices = await listPrices({ db, currency: ownCurrency }, operator)
  if (asJson) return writeOut(`${JSON.stringify(prices.map(toJson))}\n`)
  if (prices.length === 0) return writeOut('prices: none. Usage is recorded without a cost.\n')
  const head = ['model', 'from', 'for', 'input', 'cache read', 'write 5 min', 'write 1 h', 'output', 'currency', 'id']
  const lines = prices.map(({ id, model, effectiveAtMs, organizationId, rates, currency, fault }) => [
    model,
    new Date(effectiveAtMs).toISOString(),
    organizationId ?? 'everyone',
    ...rateNames.map((name) =>
      rates === null ? (fault === null ? 'none' : 'unusable') : formatMicros(BigInt(rates[name])),
    ),
    currency,
    id,
  ])
  await writeOut(`${textTable([head, ...lines])}\n`)
}

function toJson({ effectiveAtMs, createdAtMs, rates, ...price }: Price) {
  const perMillion = rates && Object.fromEntries(rateNames.map((name) => [name, formatMicros(BigInt(rates[name]))]))
  return { ...price, from: new Date(effectiveAtMs).toISOString(), perMillionTokens: perMillion }
}

function requireModel(model: string | undefined): string {
  if (modelIds.some((id) => id === model)) return model ?? ''
  throw new UsageError(`A price is for one of the models ${modelIds.join(', ')}.`)
}
