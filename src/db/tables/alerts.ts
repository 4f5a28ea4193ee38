import type { Generated } from 'kysely'
import type { AlertTopic, ChannelKind, SinkFormat, SinkKind } from '../../core/alert-topic.ts'
import type { OrganizationId } from '../../core/ids.ts'

/** Where an organization's events go; those of the installation go to the channels of `org_installation`. */
export type AlertChannelTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly kind: ChannelKind
  name: string
  /** Its scheme and host alone: some addresses hold what is as good as a password. */
  readonly shown_target: string
  /** The whole address and what signs, sealed under the installation's secret. */
  readonly sealed: string
  /** A JSON list of topics. */
  topics: string
  /** JSON: from where on it is told of those of them that it was not made with. */
  topic_starts: string | null
  /** The sequence up to which everything was delivered. */
  cursor: number
  readonly created_at: number
  disabled_at: number | null
  /** In a row; 0 after each delivery. */
  failures: number
  next_attempt_at: number
  last_error: string | null
  last_delivered_at: number | null
  /** Events that the receiver would not take, and the last one's id. */
  given_up: Generated<number>
  last_given_up: Generated<string | null>
  /** The process that delivers at the moment, and until when it may think so. */
  lease_holder: string | null
  lease_until: number
}

/** The end of each organization's events. */
export type AlertStreamTable = { readonly organization_id: OrganizationId; sequence: number }

/** Everything that is to be told, in order, for a month. */
export type AlertEventTable = {
  readonly organization_id: OrganizationId
  /** From 1, without a gap. */
  readonly sequence: number
  readonly id: string
  readonly at: number
  readonly topic: AlertTopic | 'channel.test'
  /** The only channel it is for; null is all that asked for the topic. */
  readonly channel_id: string | null
  readonly is_silenced: number
  /** JSON. */
  readonly data: string
}

/** When something was last told, so that it is not told again too soon. */
export type AlertCauseTable = {
  readonly organization_id: OrganizationId
  readonly topic: AlertTopic
  readonly cause: string
  at: number
}

/** While one is in force, what it names is kept and not delivered. */
export type AlertSilenceTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  /** Null is every topic. */
  readonly topic: AlertTopic | null
  readonly from_at: number
  readonly until_at: number
  readonly reason: string
  readonly created_at: number
}

/** How far the ledger was made into events of an organization that asked for them. */
export type AlertSourceTable = { readonly organization_id: OrganizationId; ledger_up_to: number }

/** Where the audit is pushed to: of one organization, or of all where it is one of the installation. */
export type AuditSinkTable = {
  readonly id: string
  readonly organization_id: OrganizationId
  readonly kind: SinkKind
  format: SinkFormat
  name: string
  /** Without what is as good as a password. */
  shown_target: string
  /** The whole address, what signs and what shows who sends, sealed under the installation's secret. */
  sealed: string
  /** Whether the config file asks for it; nobody else changes it then. */
  readonly is_configured: number
  readonly created_at: number
  disabled_at: number | null
  /** In a row; 0 after each batch that arrived. */
  failures: number
  next_attempt_at: number
  last_error: string | null
  last_delivered_at: number | null
  /** Rows and checkpoints that the receiver would not take, and where the last one stands. */
  given_up: Generated<number>
  last_given_up: Generated<string | null>
  /** The process that pushes at the moment, and until when it may think so. */
  lease_holder: string | null
  lease_until: number
}

/** How far a sink has been given an organization's audit; one without a row is given it from the first row on. */
export type AuditSinkCursorTable = {
  readonly sink_id: string
  readonly organization_id: OrganizationId
  sequence: number
  /** The size of the last checkpoint that was pushed. */
  checkpoint_size: number
}
