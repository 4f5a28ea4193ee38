import { AuditPage } from '../../app/audit/audit-page.tsx'

export function Page() {
  return (
    <AuditPage
      organizationId={null}
      title="Installation log"
      said="What was done to the installation itself: organizations, prices, weights, people. Times are UTC."
    />
  )
}
