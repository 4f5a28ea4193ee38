import { createHmac } from 'node:crypto'
import type { Attribution } from '../../core/generation.ts'
import type { AttributionRules } from '../../core/principal.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { isPrintable } from '../../lib/is-printable.ts'

/** Makes of an end user's name what tells the same one again, in one organization alone, and not who that is. */
export type EndUserHash = (organizationId: OrganizationId, endUser: string) => string

export function createEndUserHash(key: Uint8Array): EndUserHash {
  return (organizationId, endUser) => {
    const hash = createHmac('sha256', key).update(organizationId).update('\0').update(endUser).digest('base64url')
    return `hash_${hash.slice(0, 22)}`
  }
}

/** The names of accounts, sessions and devices that coding agents put together are up to 200 long. */
const endUserLengthMax = 256
const tagLengthMax = 128

/** What a ledger row keeps of whom a request is for. */
export type Attributed = {
  readonly endUser: string | null
  /** By their keys; null where there are none. */
  readonly tags: Readonly<Record<string, string>> | null
}

type Asked = {
  readonly organizationId: OrganizationId
  readonly rules: AttributionRules
  readonly hash: EndUserHash
}

/** Names that are longer, or have what no page could show, are kept as hashes; such values of tags are not kept. */
export function attribute({ endUser, metadata }: Attribution, { organizationId, rules, hash }: Asked): Attributed {
  const tags = rules.tagKeys.flatMap((key): [string, string][] => {
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    return value === undefined || !isShown(value, tagLengthMax) ? [] : [[key, value]]
  })
  const isNamed = endUser !== null && endUser !== '' && rules.endUsers !== 'off'
  const isPlain = rules.endUsers === 'plain' && isShown(endUser ?? '', endUserLengthMax)
  return {
    endUser: !isNamed ? null : isPlain ? endUser : hash(organizationId, endUser),
    tags: tags.length === 0 ? null : Object.fromEntries(tags),
  }
}

function isShown(text: string, lengthMax: number): boolean {
  return text !== '' && text.length <= lengthMax && isPrintable(text)
}
