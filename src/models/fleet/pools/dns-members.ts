// The replicas behind a DNS name, which come and go with its records: every address of a host, or every target of a service's
// SRV records. A name that cannot be resolved for a while changes nothing: a resolver that is away must not take a pool down.

import { lookup, resolveSrv } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { messageOf } from '../../../lib/message-of.ts'
import { nowAndEvery, type Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../telemetry/log.ts'

export type DnsMembersOptions = {
  /** `name:port`, or the name of SRV records, which begins with an underscore. */
  readonly name: string
  readonly clock: Clock
  readonly log: Log
  /** Resolves a name; another one in tests. */
  readonly resolver?: DnsResolver
  /** Called with the addresses of all replicas whenever they are known to be others than before. */
  onFound(addresses: readonly string[]): void
  /** Called when it cannot be resolved. */
  onFailed?(): void
}

export type DnsResolver = {
  addresses(host: string): Promise<readonly string[]>
  services(name: string): Promise<readonly { readonly name: string; readonly port: number }[]>
}

const resolveAgainMs = 5_000

/** The system's own way for hosts, which knows search domains; services are asked for by their whole name. */
const systemResolver: DnsResolver = {
  addresses: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  services: (name) => resolveSrv(name),
}

/** Follows a name. Returns the way to stop. */
export function followDns(options: DnsMembersOptions): () => Promise<void> {
  const { name, clock, log, resolver = systemResolver, onFound } = options
  let known: string | null = null
  let isFailing = false
  return nowAndEvery(clock, resolveAgainMs, async () => {
    try {
      const found = await resolve(name, resolver)
      isFailing = false
      const text = found.join(' ')
      if (text === known) return
      known = text
      log.info({ name, replicas: found }, 'replicas found by name')
      onFound(found)
    } catch (error) {
      if (!isFailing) log.warn({ name, reason: messageOf(error) }, 'the name of replicas cannot be resolved')
      isFailing = true
      options.onFailed?.()
    }
  })
}

async function resolve(name: string, resolver: DnsResolver): Promise<string[]> {
  const targets = name.startsWith('_') ? await resolver.services(name) : [splitPort(name)]
  const found = await Promise.all(
    targets.map(async ({ name: host, port }) =>
      (await resolver.addresses(host)).map((address) => toUrl(address, port)),
    ),
  )
  return [...new Set(found.flat())].toSorted()
}

function splitPort(name: string): { readonly name: string; readonly port: number } {
  const at = name.lastIndexOf(':')
  return { name: name.slice(0, at), port: Number(name.slice(at + 1)) }
}

function toUrl(address: string, port: number): string {
  return new URL(`http://${isIPv6(address) ? `[${address}]` : address}:${port}`).origin
}
