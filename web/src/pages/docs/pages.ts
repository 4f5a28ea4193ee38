// The documents come in one file: whoever reads one reads another, and each file more is named to everybody who signs in.

export { Page as ApiPage } from '../docs-api/page.tsx'
export { Page as ErrorsPage } from '../docs-errors/page.tsx'
export { Page as GuidePage } from '../docs-guide/page.tsx'
export { Page as GuidesPage } from '../docs-guides/page.tsx'
export { Page as MigratePage } from '../docs-migrate/page.tsx'
export { Page as PricingPage } from '../docs-pricing/page.tsx'
