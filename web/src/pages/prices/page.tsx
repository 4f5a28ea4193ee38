import type { PageParams } from '../../app/paths.ts'
import { PricesPage } from '../../app/prices/prices-page.tsx'

export function Page({ params }: { readonly params: PageParams }) {
  return <PricesPage organizationId={params['organizationId'] ?? ''} />
}
