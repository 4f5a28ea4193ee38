import type { ConnectionId } from '../../../core/ids.ts'
import type { SsoParts } from '../parts.ts'

/** Where a provider finds this service for a connection. Its name is the address of its description. */
export type SamlAddresses = { readonly entityId: string; readonly acsUrl: string; readonly sloUrl: string }

export function samlAddresses({ sso }: Pick<SsoParts, 'sso'>, id: ConnectionId): SamlAddresses {
  const base = `${sso.siteUrl()}/sso/${id}`
  return { entityId: `${base}/metadata`, acsUrl: `${base}/acs`, sloUrl: `${base}/slo` }
}
