import { parseAddressList } from '../lib/network/address-list.ts'
import { isPublicAddress } from '../lib/network/public-address.ts'

/** Decides which addresses webhooks may go to. */
export type Reachable = (address: string) => boolean

/** Public addresses, and the private ones that the settings name. */
export function createReachable(allowedNetworks: readonly string[]): Reachable {
  const allowed = parseAddressList(allowedNetworks)
  if ('fault' in allowed) throw new Error(`${allowed.fault} is no address and no CIDR block.`)
  return (address) => allowed.includes(address) || isPublicAddress(address)
}
