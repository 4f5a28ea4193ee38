// The replicas behind a DNS name, which come and go with its records: every address of a host, or every target of a service's
// SRV records. A name that cannot be resolved for a while changes nothing: a resolver that is away must not take a pool down. One
// of which a resolver says again and again that there is nothing behind it stands for nothing, as where it was scaled to zero.

import { lookup, resolveSrv } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { codeOf, messageOf } from '../../../lib/message-of.ts'
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
/** There is no such name, or nothing behind it. A resolver that was only just started may say so of any name. */
const emptyCodes: ReadonlySet<string | null> = new Set(['ENOTFOUND', 'ENODATA'])
const emptyInRowMin = 3

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
  let emptyInRow = 0
  const take = (found: readonly string[]) => {
    const text = found.join(' ')
    if (text === known) return
    known = text
    log.info({ name, replicas: found }, 'replicas found by name')
    onFound(found)
  }
  return nowAndEvery(clock, resolveAgainMs, async () => {
    try {
      const found = await resolve(name, resolver)
      isFailing = false
      emptyInRow = 0
      take(found)
    } catch (error) {
      if (!isFailing) log.warn({ name, reason: messageOf(error) }, 'the name of replicas cannot be resolved')
      isFailing = true
      emptyInRow = emptyCodes.has(codeOf(error)) ? emptyInRow + 1 : 0
      // Of one that never stood for anything it is not known that it ever will.
      if (known !== null && emptyInRow >= emptyInRowMin) take([])
      else options.onFailed?.()
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
