import { endpoints } from '../protocols/endpoints.ts'
import { invalidRequest } from '../core/error.ts'
import { modelIds, type ModelId } from '../core/model.ts'
import { parseAddressList } from '../lib/address-list.ts'

/** What confines a key; null does not. */
export type KeyRules = {
  readonly expiresAtMs: number | null
  readonly models: readonly ModelId[] | null
  readonly endpoints: readonly string[] | null
  /** Addresses and CIDR blocks. */
  readonly addresses: readonly string[] | null
}

export const noRules: KeyRules = { expiresAtMs: null, models: null, endpoints: null, addresses: null }

/** Throws for rules that cannot be meant: unknown names, an end that has passed, a list that allows nothing. */
export function checkRules({ expiresAtMs, models, endpoints: allowed, addresses }: KeyRules, nowMs: number): void {
  if (expiresAtMs !== null && !(Number.isSafeInteger(expiresAtMs) && expiresAtMs > nowMs)) {
    throw invalidRequest(['expires'], 'value', 'The end must lie in the future.')
  }
  checkNames('models', models, modelIds)
  checkNames('endpoints', allowed, endpoints)
  if (addresses === null) return
  checkLength('addresses', addresses)
  const list = parseAddressList(addresses)
  if ('fault' in list) {
    throw invalidRequest(['addresses'], 'value', `${JSON.stringify(list.fault)} is no address and no CIDR block.`)
  }
}

function checkNames(field: string, names: readonly string[] | null, known: readonly string[]): void {
  if (names === null) return
  checkLength(field, names)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  const message = `There is no ${JSON.stringify(unknown.slice(0, 100))} among the ${field}: ${known.join(', ')}.`
  throw invalidRequest([field], 'value', message)
}

const entriesMax = 100

function checkLength(field: string, list: readonly string[]): void {
  if (list.length > 0 && list.length <= entriesMax) return
  throw invalidRequest(
    [field],
    'value',
    `${field} must have from 1 to ${entriesMax} entries; without it all are allowed.`,
  )
}

export function toRuleColumns({ expiresAtMs, models, endpoints: allowed, addresses }: KeyRules) {
  return {
    expires_at: expiresAtMs,
    allowed_models: toText(models),
    allowed_endpoints: toText(allowed),
    allowed_addresses: toText(addresses),
  }
}

export function fromRuleColumns(row: ReturnType<typeof toRuleColumns>): KeyRules {
  return {
    expiresAtMs: row.expires_at,
    models: fromText<ModelId>(row.allowed_models),
    endpoints: fromText<string>(row.allowed_endpoints),
    addresses: fromText<string>(row.allowed_addresses),
  }
}

function toText(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

function fromText<Name extends string>(text: string | null): readonly Name[] | null {
  return text === null ? null : (JSON.parse(text) as readonly Name[])
}
