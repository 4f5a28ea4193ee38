import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** A set of addresses and networks. */
export type AddressList = { includes(address: Address): boolean }

/** Undefined is that of a client that has left: its connection has none any more. */
type Address = string | undefined

/** Reads addresses and CIDR blocks. Returns the first entry that is neither in its place, where there is one. */
export function parseAddressList(entries: readonly string[]): AddressList | { readonly fault: string } {
  const list = new BlockList()
  for (const entry of entries) if (!add(list, entry)) return { fault: entry }
  return {
    includes(address) {
      // A link-local address names the interface it came by.
      const plain = address?.split('%', 1)[0] ?? ''
      const family = isIP(plain)
      return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

function add(list: BlockList, entry: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  const bitsMax = family === 4 ? 32 : 128
  const prefix = bits === undefined ? bitsMax : Number(bits)
  if (prefix > bitsMax) return false
  list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  return true
}

/** Returns the network that an address stands for: whoever has one address of IPv6 has a whole /64 of them. */
export function networkOf(address: Address): string {
  const plain = plainOf(address)
  return isIPv6(plain) ? groupsOf(plain).slice(0, 4).join(':') : plain
}

/** The network of an address's whole site: a /24 of IPv4, and the /48 that one is given with IPv6. Null for what is none. */
export function siteOf(address: Address): string | null {
  const plain = plainOf(address)
  if (isIPv4(plain)) return `${plain.slice(0, plain.lastIndexOf('.'))}.0/24`
  if (!isIPv6(plain)) return null
  const [first = '', second = '', third = ''] = groupsOf(plain)
  return `${[first, second, third].map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/48`
}

function plainOf(address: Address): string {
  return (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0] ?? ''
}

/** The eight groups of an address of IPv6; fewer where its end is written as one of IPv4. */
function groupsOf(plain: string): readonly string[] {
  const [head = '', tail] = plain.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array.from({ length: missing }, () => '0'), ...last]
}
