import { z } from 'zod'
import { requireSubject } from '../../../accounts/require-subject.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import type { LimitSubject } from '../../../core/limit.ts'
import { notFound } from '../../../core/permission.ts'
import type { RouteParts } from '../route.ts'
import { apiKeyId, organizationId, projectId } from '../schemas.ts'

/** Whose limit or budget something is. */
export const subject = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('organization'), id: organizationId }),
    z.strictObject({ kind: z.literal('project'), id: projectId }),
    z.strictObject({ kind: z.literal('api-key'), id: apiKeyId }),
  ])
  .meta({ id: 'Subject' })

/** Throws for what does not belong to the organization, as for what is not there. Returns whose limits count for it. */
export function findSubject(
  { accounts }: RouteParts,
  organization: OrganizationId,
  given: LimitSubject,
): Promise<LimitSubject> {
  return requireSubject(accounts.db, organization, given)
}

/** Whether there was something to remove. */
export function requireRemoved(wasThere: boolean): void {
  if (!wasThere) throw notFound()
}
