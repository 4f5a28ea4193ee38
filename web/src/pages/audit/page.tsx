import { AuditPage } from '../../app/audit/audit-page.tsx'
import type { PageParams } from '../../app/paths.ts'

/** Of an organization; where the address names none, of the installation. */
export function Page({ params }: { readonly params: PageParams }) {
  const organizationId = params['organizationId'] ?? null
  return organizationId === null ? (
    <AuditPage
      organizationId={null}
      title="Installation log"
      said="What was done to the installation itself: organizations, prices, weights, people. Times are UTC."
    />
  ) : (
    <AuditPage
      organizationId={organizationId}
      title="Audit log"
      said="Every change, in a chain that shows when a row was altered. Times are UTC."
    />
  )
}
