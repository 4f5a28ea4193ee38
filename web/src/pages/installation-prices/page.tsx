import { PricesPage } from '../../app/prices/prices-page.tsx'

export function Page() {
  return <PricesPage organizationId={null} />
}
