import { isIPv6 } from 'node:net'
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

/** Whether an address is one of the open internet. An IPv4 address in the form of an IPv6 one never is. */
export function isPublicAddress(address: string): boolean {
  // The two are apart as a rule for IPv6 counts for every IPv4 address that it maps.
  const special = isIPv6(address) ? special6 : special4
  return !('fault' in special) && !special.includes(address)
}
