import { AuditPage } from '../../app/audit/audit-page.tsx'
import type { PageParams } from '../../app/paths.ts'

export function Page({ params }: { readonly params: PageParams }) {
  return (
    <AuditPage
      organizationId={params['organizationId'] ?? ''}
      title="Audit log"
      said="Every change, in a chain that shows when a row was altered. Times are UTC."
    />
  )
}
