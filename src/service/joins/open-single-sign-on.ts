import { Resolver } from 'node:dns/promises'
import { createGuardedFetch } from '../../accounts/single-sign-on/oidc/guarded-fetch.ts'
import { Providers } from '../../accounts/single-sign-on/oidc/providers.ts'
import type { SingleSignOn } from '../../accounts/single-sign-on/parts.ts'
import type { Config } from '../../config/schema.ts'
import { parseAddressList } from '../../lib/address-list.ts'
import { codeOf } from '../../lib/message-of.ts'
import { systemClock } from '../../lib/clock.ts'

/** What signing in by other organizations' providers stands on. */
export function openSingleSignOn({ sso }: Pick<Config, 'sso'>, siteUrl: () => string): SingleSignOn {
  const privateAddresses = parseAddressList(sso.privateAddresses)
  if ('fault' in privateAddresses) throw new Error(`${privateAddresses.fault} is no address.`)
  const fetch = createGuardedFetch({ privateAddresses })
  const refreshMs = sso.metadataRefreshMinutes * 60_000
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  return {
    providers: new Providers({ fetch, clock: systemClock, refreshMs, skewSeconds: sso.clockSkewSeconds }),
    saml: { fetch, refreshMs, skewSeconds: sso.clockSkewSeconds, answerMsMax: sso.assertionMinutesMax * 60_000 },
    siteUrl,
    async resolveTexts(name) {
      try {
        return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
      } catch (error) {
        // A name that is not there has no texts, and one that cannot be looked up now has none yet.
        if (/^E(?:NOTFOUND|NODATA|TIMEOUT|SERVFAIL|REFUSED|CONNREFUSED)$/.test(String(codeOf(error)))) return []
        throw error
      }
    },
  }
}
