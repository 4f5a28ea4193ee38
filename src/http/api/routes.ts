import { apiKeyRoutes } from './resources/api-keys.ts'
import { auditRoutes } from './resources/audit.ts'
import { budgetRoutes } from './resources/budgets.ts'
import { ledgerRoutes } from './resources/ledger.ts'
import { limitRoutes } from './resources/limits.ts'
import { managementKeyRoutes } from './resources/management-keys.ts'
import { memberRoutes } from './resources/members.ts'
import { modelRoutes } from './resources/models.ts'
import { organizationRoutes } from './resources/organizations.ts'
import { priceRoutes } from './resources/prices.ts'
import { projectRoutes } from './resources/projects.ts'
import { usageRoutes } from './resources/usage.ts'
import type { Route } from './route.ts'

/** Every route of the management API: what is not here is not served, and what is here says which permission it needs. */
export const routes: readonly Route[] = [
  ...organizationRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...apiKeyRoutes,
  ...managementKeyRoutes,
  ...limitRoutes,
  ...budgetRoutes,
  ...priceRoutes,
  ...usageRoutes,
  ...ledgerRoutes,
  ...auditRoutes,
  ...modelRoutes,
]
