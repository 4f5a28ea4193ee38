import { endpoints } from '../protocols/endpoints.ts'
import { invalidRequest } from '../core/error.ts'
import { modelIds, type ModelId } from '../core/model.ts'
import { priorities, type Priority } from '../core/tier.ts'
import { parseAddressList } from '../lib/network/address-list.ts'

/** What confines a key; null does not. */
export type KeyRules = {
  readonly expiresAtMs: number | null
  readonly models: readonly ModelId[] | null
  readonly endpoints: readonly string[] | null
  /** Addresses and CIDR blocks. */
  readonly addresses: readonly string[] | null
  /** How soon its requests have their turn; null is as soon as its organization's. */
  readonly priority: Priority | null
}

export const noRules: KeyRules = { expiresAtMs: null, models: null, endpoints: null, addresses: null, priority: null }

/** Throws for rules that cannot be meant: unknown names, an end that has passed, a list that allows nothing. */
export function checkRules({ expiresAtMs, models, endpoints: allowed, ...rules }: KeyRules, nowMs: number): void {
  const { addresses, priority } = rules
  if (expiresAtMs !== null && !(Number.isSafeInteger(expiresAtMs) && expiresAtMs > nowMs)) {
    throw invalidRequest(['expires'], 'value', 'The end must lie in the future.')
  }
  checkNames('models', models, modelIds)
  checkNames('endpoints', allowed, endpoints)
  if (priority !== null) checkPriority(priority)
  if (addresses === null) return
  checkLength('addresses', addresses)
  const list = parseAddressList(addresses)
  if ('fault' in list) {
    throw invalidRequest(['addresses'], 'value', `${JSON.stringify(list.fault)} is no address and no CIDR block.`)
  }
}

export function checkPriority(priority: string): void {
  if (priorities.some((known) => known === priority)) return
  throw invalidRequest(['priority'], 'value', `There is no such priority; there are ${priorities.join(', ')}.`)
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

export function toRuleColumns({ expiresAtMs, models, endpoints: allowed, addresses, priority }: KeyRules) {
  return {
    expires_at: expiresAtMs,
    allowed_models: toText(models),
    allowed_endpoints: toText(allowed),
    allowed_addresses: toText(addresses),
    priority,
  }
}

export function fromRuleColumns(row: ReturnType<typeof toRuleColumns>): KeyRules {
  return {
    expiresAtMs: row.expires_at,
    models: fromText<ModelId>(row.allowed_models),
    endpoints: fromText<string>(row.allowed_endpoints),
    addresses: fromText<string>(row.allowed_addresses),
    priority: row.priority,
  }
}

function toText(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

function fromText<Name extends string>(text: string | null): readonly Name[] | null {
  return text === null ? null : (JSON.parse(text) as readonly Name[])
}
