import { lookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { parseAddressList } from './address-list.ts'

/** Networks that are of one machine or one house, or reserved (IANA's registries of special-purpose addresses). */
const special4 = parseAddressList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])
const special6 = parseAddressList([
  // Everything of IPv6 outside of what is given out, with it mapped, translated, local and multicast addresses.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
])

/** Whether an address is one of the open internet. An IPv4 address in the form of an IPv6 one never is, nor is a name. */
export function isPublicAddress(address: string): boolean {
  // The two are apart as a rule for IPv6 counts for every IPv4 address that it maps.
  const family = isIP(address.split('%', 1)[0] ?? '')
  const special = family === 6 ? special6 : special4
  return family !== 0 && !('fault' in special) && !special.includes(address)
}

export type GuardedLookupOptions = {
  readonly isAllowed: (address: string) => boolean
  /** What the connection fails with. */
  readonly refusal: (name: string) => string
  /** Stands in for the system's own way of finding the addresses of a name. */
  readonly findAddresses?: typeof lookup
}

/**
 * Finds a name's addresses for a connection; it fails where one of them is not allowed, so that no name leads inside.
 *
 * What is connected to is what was checked: a name that is resolved anew a moment later changes nothing. Nothing is
 * looked up for a URL with an address in it, which has to be checked by itself.
 */
export function createGuardedLookup(options: GuardedLookupOptions): LookupFunction {
  const { isAllowed, refusal, findAddresses = lookup } = options
  return (name, asked, done) => {
    findAddresses(name, { ...asked, all: true }, (error, found: LookupAddress[]) => {
      if (error !== null) return done(error, '')
      const [first] = found
      if (first === undefined || !found.every(({ address }) => isAllowed(address))) {
        return done(new Error(refusal(name)), '')
      }
      if (asked.all === true) done(null, found)
      else done(null, first.address, first.family)
    })
  }
}

/** The address that a URL names by itself; null for a name. */
export function literalAddressOf({ hostname }: URL): string | null {
  const plain = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(plain) === 0 ? null : plain
}
