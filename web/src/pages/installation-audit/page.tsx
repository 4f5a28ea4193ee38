import { AuditPage } from '../../app/audit/audit-page.tsx'

export function Page() {
  return (
    <AuditPage
      organizationId={null}
      said="What was done to the installation itself: organizations, prices, weights, people. Times are UTC."
    />
  )
}
