import { useEffect } from 'react'
import { pagePath } from '../../app/paths.ts'
import { usePreferences } from '../../app/preferences.ts'
import { useSession } from '../../app/session.ts'
import { location } from '../../lib/location.ts'
import { Page as Frame } from '../../kit/page.tsx'

/** Leads on to the organization that was looked at last, or to the only one. */
export function Page() {
  const session = useSession()
  const { organizationId: last } = usePreferences()
  const known = session?.memberships.find((one) => one.organizationId === last) ?? session?.memberships[0]
  const href =
    known !== undefined
      ? pagePath('home', { organizationId: known.organizationId })
      : session?.installation
        ? '/installation/models'
        : null
  useEffect(() => {
    if (href !== null) void location.go(href, { replace: true })
  }, [href])
  if (href !== null) return null
  return (
    <Frame title="No organization">
      <p>You belong to no organization any more. Somebody who owns one can invite you.</p>
    </Frame>
  )
}
