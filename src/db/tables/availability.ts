import type { OrganizationId } from '../../core/ids.ts'
import type { Amount } from './amount.ts'

/** Requests that ended in the minute that begins at `at`, as the ledger has them. */
export type AvailabilityMinuteTable = {
  readonly organization_id: OrganizationId
  readonly at: number
  readonly model: string
  /** Those whose failures do not lie with their callers; what is not bad of them is good. */
  readonly valid: number
  readonly bad: number
  /** The bad ones among those that did not fail: their first token came later than was agreed. */
  readonly slow: number
  readonly first_bad_at: number | null
  readonly last_bad_at: number | null
}

/** Requests that failed by the service's fault before there was a row in the ledger for them, in the minute from `at`. */
export type UnservedRequestTable = {
  readonly organization_id: OrganizationId
  readonly at: number
  /** Empty where the request's body was not read yet. */
  readonly model: string
  readonly class: string
  readonly requests: number
  readonly first_at: number
  readonly last_at: number
}

/** What became known in the minute that begins at `at`, whenever it was; kept for as long as somebody looks back. */
export type KnownMinuteTable = {
  readonly organization_id: OrganizationId
  readonly at: number
  /** As availability counts them, those without a row in the ledger as well. */
  readonly requests: number
  readonly failed: number
}

/** A time for all of which a gateway, or a model behind it, has shown that it works. */
export type LifeSpanTable = {
  /** A new one with every start of a gateway. */
  readonly boot_id: string
  readonly number: number
  /** The model; empty is the gateway itself. */
  readonly subject: string
  readonly from_at: number
  readonly until_at: number
  /** The error that ended it; null while it goes on, and where the gateway ended. */
  readonly ended_by: string | null
}

/** What is promised from `effective_at` on. Rows are added and never changed. */
export type SlaObjectiveTable = {
  readonly id: string
  /** Empty is everyone for whom nothing else was agreed. */
  readonly organization_id: OrganizationId | ''
  readonly effective_at: number
  readonly availability_ppm: number
  readonly basis: 'minutes' | 'requests'
  /** A minute is down from this share of bad requests on. */
  readonly down_share_ppm: number
  readonly first_token_ms: number | null
  /** JSON: which share of the charges is given back below which availability. */
  readonly credits: string
  readonly created_at: number
}

/** Announced maintenance, which does not count. */
export type SlaExclusionTable = {
  readonly id: string
  readonly from_at: number
  readonly until_at: number
  readonly reason: string
  readonly announced_at: number
  withdrawn_at: number | null
}

/** The report of a month that is over; never changed, a correction is another version. */
export type SlaReportTable = {
  readonly organization_id: OrganizationId
  readonly month: string
  readonly version: number
  readonly at: number
  /** As it was signed. */
  readonly note: string
  /** Base64: the beginnings of the hashes of the month's ledger rows, in order. */
  readonly marks: string
}

/** What an organization gets back of a month's charges for a model, once. */
export type CreditTable = {
  readonly organization_id: OrganizationId
  readonly month: string
  readonly model: string
  readonly micros: Amount
  readonly percent: number
  readonly created_at: number
}
