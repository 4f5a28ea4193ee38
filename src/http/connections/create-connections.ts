import { parseAddressList } from '../../lib/address-list.ts'
import type { HttpParts } from '../parts.ts'
import { OpenConnections } from './open-connections.ts'

/** At most one line in so many milliseconds says that connections are refused: an attack must not fill the log. */
const tellEveryMs = 10_000

/** The connections of the door, within its bounds. */
export function createConnections({ bounds, trustedProxies, inference: { clock }, log }: HttpParts): OpenConnections {
  const proxies = parseAddressList(trustedProxies)
  let [since, toldMs] = [0, -tellEveryMs]
  const connections = new OpenConnections({
    ...bounds,
    isProxy: (address) => 'includes' in proxies && proxies.includes(address),
    onFull(address) {
      since += 1
      const nowMs = clock.monotonicMs()
      if (nowMs - toldMs < tellEveryMs) return
      toldMs = nowMs
      log.warn(
        { connections: connections.size, address, ended: since },
        'connections are ended or refused: too many are open',
      )
      since = 0
    },
  })
  return connections
}
