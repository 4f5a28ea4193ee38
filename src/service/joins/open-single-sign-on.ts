import { Resolver } from 'node:dns/promises'
import { createGuardedFetch } from '../../accounts/single-sign-on/oidc/guarded-fetch.ts'
import { Providers } from '../../accounts/single-sign-on/oidc/providers.ts'
import type { ResolveTexts, SingleSignOn } from '../../accounts/single-sign-on/parts.ts'
import type { Config } from '../../config/schema.ts'
import { parseAddressList } from '../../lib/network/address-list.ts'
import { codeOf } from '../../lib/message-of.ts'
import { systemClock } from '../../lib/clock.ts'

/** What signing in by other organizations' providers stands on. */
export function openSingleSignOn({ sso }: Pick<Config, 'sso'>, siteUrl: () => string): SingleSignOn {
  const privateAddresses = parseAddressList(sso.privateAddresses)
  if ('fault' in privateAddresses) throw new Error(`${privateAddresses.fault} is no address.`)
  const fetch = createGuardedFetch({ privateAddresses })
  const refreshMs = sso.metadataRefreshMinutes * 60_000
  return {
    providers: new Providers({ fetch, clock: systemClock, refreshMs, skewSeconds: sso.clockSkewSeconds }),
    saml: { fetch, refreshMs, skewSeconds: sso.clockSkewSeconds, answerMsMax: sso.assertionMinutesMax * 60_000 },
    siteUrl,
    resolveTexts: createTextResolver(),
  }
}

type ResolverOptions = { readonly servers?: readonly string[]; readonly timeoutMs?: number }

/** Asks these servers of names, or those that the system asks. */
export function createTextResolver({ servers, timeoutMs = 2_000 }: ResolverOptions = {}): ResolveTexts {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  return async (name) => {
    try {
      return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
    } catch (error) {
      const code = String(codeOf(error))
      // A name that is not there has no texts; servers that do not answer have said nothing of it.
      if (/^E(?:NOTFOUND|NODATA)$/.test(code)) return []
      if (/^E(?:TIMEOUT|SERVFAIL|REFUSED|CONNREFUSED)$/.test(code)) return null
      throw error
    }
  }
}
