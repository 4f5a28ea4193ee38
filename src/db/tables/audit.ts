import type { OrganizationId } from '../../core/ids.ts'

export type AuditTable = {
  readonly id: string
  readonly at: number
  readonly organization_id: OrganizationId
  /** An API key's id, or `operator` for the machine's command line. */
  readonly actor: string
  readonly action: string
  readonly target: string
}
