import { BlockList, isIP, isIPv6 } from 'node:net'

/** A set of addresses and networks. */
export type AddressList = { includes(address: string): boolean }

/** Reads addresses and CIDR blocks. Returns the first entry that is neither in its place, where there is one. */
export function parseAddressList(entries: readonly string[]): AddressList | { readonly fault: string } {
  const list = new BlockList()
  for (const entry of entries) if (!add(list, entry)) return { fault: entry }
  return {
    includes(address) {
      // A link-local address names the interface it came by.
      const plain = address.split('%', 1)[0] ?? ''
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
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0] ?? ''
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - first.length - last.length
  return [...first, ...Array.from({ length: missing }, () => '0'), ...last].slice(0, 4).join(':')
}
