import type {
  AgentSignInId,
  ApiKeyId,
  ConnectionId,
  MemberId,
  OrganizationId,
  ProjectId,
  UserId,
} from '../../core/ids.ts'

/**
 * A coding agent that signs in: it waits until its person says in a browser that it is theirs, fetches its tokens once,
 * and is signed in until it ends.
 */
export type AgentSignInTable = {
  readonly id: AgentSignInId
  /** By the one the agent asks, by the other its person finds it. */
  readonly device_hash: string
  readonly code_hash: string
  state: 'waiting' | 'allowed' | 'denied' | 'open'
  /** What the agent says of itself, and where it asked from. */
  readonly client: string
  readonly address: string
  readonly created_at: number
  /** Until when somebody may say whose it is; once it is open, until when it is signed in. */
  ends_at: number
  /** When it last asked whether somebody has. */
  polled_at: number | null
  /** Whose it is, and under which key its requests count; null until somebody has said so. */
  organization_id: OrganizationId | null
  project_id: ProjectId | null
  member_id: MemberId | null
  user_id: UserId | null
  api_key_id: ApiKeyId | null
  /** The connection by which its person was signed in, whom the provider meant, and how it calls its own session. */
  connection_id: ConnectionId | null
  sso_subject: string | null
  sso_session: string | null
}

export type AgentTokenTable = {
  readonly token_hash: string
  /** One asks models, the other is exchanged for the next two. */
  readonly kind: 'access' | 'refresh'
  readonly sign_in_id: AgentSignInId
  readonly organization_id: OrganizationId
  readonly api_key_id: ApiKeyId
  readonly ends_at: number
  /** When it was exchanged. */
  used_at: number | null
}

/** What an organization sets for the coding agents of its members, or of those in one of its projects. */
export type AgentSettingsTable = {
  readonly organization_id: OrganizationId
  /** Empty for the organization as a whole. */
  readonly project_id: ProjectId | ''
  /** A JSON object. */
  readonly settings: string
}
