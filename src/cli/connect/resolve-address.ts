import type { Config } from '../../config/schema.ts'
import type { ServiceStatus } from '../../service/status/status-file.ts'
import { UsageError } from '../usage-error.ts'

/** The address that clients are given: the one named, that of the running service, or that of the next one. */
export function resolveAddress(given: string | undefined, config: Config, status: ServiceStatus | null): string {
  if (given !== undefined) return readAddress(given)
  if (status !== null) return reachable(new URL(status.address))
  if (config.port === 0) {
    throw new UsageError('The service does not run, and its port is chosen when it starts. Name it with --base-url.')
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return reachable(new URL(`http://${host}:${config.port}`))
}

/** Takes an address with `/v1` as well: each client gets it in its own form anyway. */
function readAddress(text: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--base-url takes an address like http://127.0.0.1:8080, and not ${text}.`)
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--base-url takes an address without a user name, a query or a fragment.')
  }
  // The address goes into code and commands, between quotation marks of several kinds.
  if (!/^[\w./~%-]*$/.test(url.pathname)) throw new UsageError('--base-url has a path that no client would take.')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** A service that listens on every address of its machine is reached by none of these names. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': 'localhost' }

function reachable(url: URL): string {
  url.hostname = everywhere[url.hostname] ?? url.hostname
  return url.origin
}
