import type { PageParams } from '../../app/paths.ts'
import { PricesPage } from '../../app/prices/prices-page.tsx'

/** As an organization pays them; where the address names none, all of the installation. */
export function Page({ params }: { readonly params: PageParams }) {
  return <PricesPage organizationId={params['organizationId'] ?? null} />
}
