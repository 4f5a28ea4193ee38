import { AuditPage } from '../../app/audit/audit-page.tsx'
import type { PageParams } from '../../app/paths.ts'

/** The audit of an organization, or of the installation where the address names no organization. */
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
