import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { parseAddressList, type AddressList } from '../lib/address-list.ts'

/**
 * Addresses that are no way to the outside: this machine, networks of a house, the services of a cloud (169.254), multicast,
 * and IPv6's ways of writing all of these. Addresses of IPv4 that are written as those of IPv6 are found by themselves.
 */
const privateEntries = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** Decides which addresses webhooks may go to. */
export type Reachable = (address: string) => boolean

/** Public addresses, and the private ones that the settings name. */
export function createReachable(allowedNetworks: readonly string[]): Reachable {
  const closed = read(privateEntries)
  const allowed = read(allowedNetworks)
  return (address) =>
    isIP(address.split('%', 1)[0] ?? '') !== 0 && (allowed.includes(address) || !closed.includes(address))
}

function read(entries: readonly string[]): AddressList {
  const list = parseAddressList(entries)
  if ('fault' in list) throw new Error(`${list.fault} is no address and no CIDR block.`)
  return list
}

/** Finds a name's addresses for a connection; it fails where one of them may not be reached, so that no name leads inside. */
export function createGuardedLookup(isReachable: Reachable): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, [])
      const closed = found.find(({ address }) => !isReachable(address))
      if (closed !== undefined) return done(new Error(`${hostname} is at a private address.`), [])
      if (options.all === true) return done(null, found)
      const [first] = found
      done(null, first?.address ?? '', first?.family ?? 4)
    })
  }
}

/** The address that a URL names by itself, for which nothing is looked up; null for a name. */
export function literalAddressOf({ hostname }: URL): string | null {
  const plain = hostname.replace(/^\[|\]$/g, '')
  return isIP(plain) === 0 ? null : plain
}
