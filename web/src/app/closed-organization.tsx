import type { Membership } from '../api/answers.ts'
import { Name } from '../kit/content.tsx'
import { Page } from '../kit/page.tsx'
import { pagePath } from './paths.ts'

/** Whoever has come in by another way is a member all the same, and is shown the one by which the organization opens. */
export function ClosedOrganization({
  membership: { organizationId, organizationName, needsProof },
}: {
  readonly membership: Membership
}) {
  const next = encodeURIComponent(pagePath('home', { organizationId }))
  return (
    <Page title={<Name>{organizationName}</Name>} isNarrow>
      <p>This organization lets its members in by its own identity provider alone.</p>
      {/* Not a page of the dashboard: the service leads on to the provider. */}
      <a href={`/sso/${needsProof?.connectionId ?? ''}/start?next=${next}`}>Sign in by it</a>
    </Page>
  )
}
