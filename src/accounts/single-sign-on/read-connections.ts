import type { Selectable, Transaction } from 'kysely'
import type { ConnectionId, MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { ConnectionState, ConnectionTable } from '../../db/tables/single-sign-on.ts'
import type { Tables } from '../../db/tables.ts'
import type { SignInParts } from '../sign-in/parts.ts'

export type Connection = {
  readonly id: ConnectionId
  readonly kind: ConnectionTable['kind']
  readonly name: string
  /** What is particular to OpenID Connect; null where SAML is spoken. */
  readonly clientId: string | null
  readonly tokenAuth: ConnectionTable['token_auth'] | null
  readonly signingAlgorithm: string | null
  readonly scopes: string | null
  readonly tenant: string | null
  readonly groupsClaim: string
  readonly makesMembers: boolean
  readonly signsOutThere: boolean
  readonly defaultRole: Role
  readonly state: ConnectionState
  readonly issuer: string
  readonly enforcedAtMs: number | null
  readonly breakGlassId: MemberId | null
  readonly testedBy: UserId | null
  readonly testedAtMs: number | null
  readonly createdAtMs: number
}

export type ConnectionReference = { readonly id: string; readonly organizationId: OrganizationId }
export type ConnectionRow = Selectable<ConnectionTable>

export async function listConnections(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly Connection[]> {
  requirePermission(principal, 'connections:read', { organizationId })
  const rows = await db
    .selectFrom('connections')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toConnection)
}

export async function readConnection(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: ConnectionReference,
): Promise<Connection> {
  requirePermission(principal, 'connections:read', reference)
  return toConnection(await findConnection(db, reference))
}

export async function findConnection(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  { id, organizationId }: ConnectionReference,
): Promise<ConnectionRow> {
  const row = await db
    .selectFrom('connections')
    .selectAll()
    .where('id', '=', id as ConnectionId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

function toConnection(row: ConnectionRow): Connection {
  const isOidc = row.kind === 'oidc'
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    state: row.state,
    issuer: row.issuer,
    clientId: isOidc ? row.client_id : null,
    tokenAuth: isOidc ? row.token_auth : null,
    signingAlgorithm: isOidc ? row.signing_algorithm : null,
    scopes: isOidc ? row.scopes : null,
    tenant: row.tenant,
    groupsClaim: row.groups_claim,
    makesMembers: row.makes_members === 1,
    signsOutThere: row.signs_out === 1,
    defaultRole: row.default_role,
    enforcedAtMs: row.enforced_at,
    breakGlassId: row.break_glass_id,
    testedBy: row.tested_by,
    testedAtMs: row.tested_at,
    createdAtMs: row.created_at,
  }
}
