import { ownerOf, type ApiKey, type KeyFilter } from '../queries.ts'
import { flag, oneOf, searchCodec, text, type StateOf } from '../../lib/search-codec.ts'
import { dayMs } from '../../format/time.ts'

const fields = {
  q: text(),
  state: oneOf(['in-use', 'active', 'disabled', 'ended', 'all'], 'in-use'),
  project: text(),
  owner: text(),
  unused: oneOf(['any', '30', '90'], 'any'),
  sort: oneOf(['name', 'used', 'created', 'ends'], 'created'),
  down: { ...flag, fallback: true },
}
export const keysSearch = searchCodec(fields)
export type KeysSearch = StateOf<typeof fields>

export function filterKeys(keys: readonly ApiKey[], search: KeysSearch, nowMs = Date.now()): readonly ApiKey[] {
  const words = search.q.toLowerCase()
  const unusedSinceMs = search.unused === 'any' ? null : nowMs - Number(search.unused) * dayMs
  const isWanted = (key: ApiKey) =>
    `${key.name} ${key.lastFour} ${key.id}`.toLowerCase().includes(words) &&
    (search.state === 'all' || statesOf[search.state].includes(key.state)) &&
    (search.project === '' || key.projectId === search.project) &&
    (search.owner === '' || ownerOf(key) === search.owner) &&
    (unusedSinceMs === null || Date.parse(key.lastUsedAt ?? key.createdAt) < unusedSinceMs)
  const sign = search.down ? -1 : 1
  return keys
    .filter(isWanted)
    .toSorted((one, other) => sign * compare(sortTextOf(one, search.sort), sortTextOf(other, search.sort)))
}

/** As the service takes it, for keys that are not here; null where nothing narrows them down. */
export function toKeyFilter({ q, state, project, owner, unused }: KeysSearch): KeyFilter | null {
  if (q === '' && state === 'in-use' && project === '' && owner === '' && unused === 'any') return null
  return {
    ...(q !== '' && { q }),
    ...(state !== 'all' && { state: [...statesOf[state]] }),
    ...(project !== '' && { projectId: project }),
    ...(owner !== '' && (owner.startsWith('svc_') ? { serviceAccountId: owner } : { ownerId: owner })),
    ...(unused !== 'any' && { unusedDays: Number(unused) }),
  }
}

/** The states that each choice of the filter means; all of them are not narrowed down. */
const statesOf: Readonly<Record<Exclude<KeysSearch['state'], 'all'>, readonly ApiKey['state'][]>> = {
  'in-use': ['active', 'disabled'],
  active: ['active'],
  disabled: ['disabled'],
  ended: ['expired', 'revoked'],
}

/** Instants are written so that their texts have the order of their times. */
function sortTextOf({ name, lastUsedAt, createdAt, expiresAt }: ApiKey, sort: KeysSearch['sort']): string {
  return { name: name.toLowerCase(), used: lastUsedAt ?? '', created: createdAt, ends: expiresAt ?? '9' }[sort]
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
