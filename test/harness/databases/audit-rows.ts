import type { OrganizationId } from '../../../src/core/ids.ts'
import { change, type ChangeParts } from '../../../src/db/change.ts'

/** Adds so many rows to an organization's audit, as the operator's changes do. */
export async function addAuditRows(parts: ChangeParts, organizationId: OrganizationId, count: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const action = { action: 'things:change', organizationId, target: `thing ${made}` }
    const fields = [{ was: made }, { is: made + 1 }] as const
    await change(parts, { kind: 'operator' }, action, (_, note) => Promise.resolve(note(...fields)))
  }
}
