import type { Owner } from '../core/generation.ts'

/** Something that takes up room while it waits. */
export type Held = { readonly owner: Owner; readonly bytes: number }

export type Room = { readonly requests: number; readonly bytes: number }

/**
 * Chooses which requests have to go so that a newcomer fits; null when it is the newcomer who has to.
 *
 * Whoever holds most with the newcomer counted in, by organization and then by
 * key, loses its newest request. A flood so displaces itself and keeps nobody
 * else out.
 */
export function makeRoom<Request extends Held>(
  held: readonly Request[],
  newcomer: Request,
  room: Room,
): Request[] | null {
  const staying = [...held, newcomer]
  const leaving: Request[] = []
  while (!fits(staying, room)) {
    const organization = heaviest(staying, ({ organizationId }) => organizationId, newcomer, room)
    const newest = heaviest(organization, ({ apiKeyId }) => apiKeyId, newcomer, room).at(-1)
    if (newest === undefined || newest === newcomer) return null
    staying.splice(staying.indexOf(newest), 1)
    leaving.push(newest)
  }
  return leaving
}

/** A single request may be larger than the room for all: it would never be served otherwise. */
function fits(held: readonly Held[], room: Room): boolean {
  return held.length <= room.requests && (held.length <= 1 || bytesOf(held) <= room.bytes)
}

/** Among equals the newcomer's own group has to give way: else they would displace each other in turn. */
function heaviest<Request extends Held>(
  held: readonly Request[],
  idOf: (owner: Owner) => string,
  newcomer: Request,
  room: Room,
): readonly Request[] {
  const groups = Map.groupBy(held, ({ owner }) => idOf(owner))
  let most = groups.get(idOf(newcomer.owner)) ?? []
  for (const group of groups.values()) if (shareOf(group, room) > shareOf(most, room)) most = group
  return most
}

function shareOf(held: readonly Held[], room: Room): number {
  return Math.max(held.length / room.requests, bytesOf(held) / room.bytes)
}

function bytesOf(held: readonly Held[]): number {
  return held.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Counts the bytes of all text and binary content in a request: what it costs to keep it waiting. */
export function requestBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof Uint8Array) return value.byteLength
  if (typeof value !== 'object' || value === null) return 0
  let bytes = 0
  for (const name of Object.keys(value)) bytes += name.length + requestBytes((value as Record<string, unknown>)[name])
  return bytes
}
