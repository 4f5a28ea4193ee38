import type { OrganizationId } from '../../core/ids.ts'
import type { Amount } from './amount.ts'

/** The statement of an organization's month; never changed. */
export type InvoiceTable = {
  /** From 1 on, without a gap, over all organizations. */
  readonly number: number
  readonly organization_id: OrganizationId
  readonly month: string
  readonly at: number
  readonly currency: string
  /** Charges less credits, and adjustments. */
  readonly total_micros: Amount
  /** What of it was paid before. */
  readonly prepaid_micros: Amount
  /** As it was signed. */
  readonly note: string
}

/** What an organization has paid before, or is charged or spared beside its usage. Rows are added and never changed. */
export type AccountEntryTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly at: number
  readonly kind: 'prepayment' | 'adjustment'
  /** A prepayment is above zero; an adjustment below zero spares something. */
  readonly micros: number
  readonly reason: string
  /** The installation's when it was made; null where that was before it was kept. */
  readonly currency: string | null
}
