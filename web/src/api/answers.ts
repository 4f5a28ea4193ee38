// Names for what the service takes and gives in several places.

import type { Operations, Schemas } from './types.ts'

export type Session = Schemas['Session']
export type Membership = Session['memberships'][number]
export type SignedIn = Operations['POST /api/v1/session/password']['answer']
export type Credential = Operations['POST /api/v1/setup']['body']['credential']
export type Invitation = Operations['POST /api/v1/organizations/{organizationId}/invitations']['answer']['invitation']
export type WaitingAgent = Schemas['WaitingAgent']
export type Looked = Operations['POST /api/v1/invitations/look']['answer']
