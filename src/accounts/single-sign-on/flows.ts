import type { ConnectionId, UserId } from '../../core/ids.ts'
import type { ConnectionTable, SsoFlowTable } from '../../db/tables/single-sign-on.ts'
import { seal, unseal } from '../../lib/seal.ts'
import { createToken, hashToken, isToken } from '../sign-in/one-time.ts'
import { SsoFault } from './fault.ts'
import type { FlowSecrets } from './oidc/exchange-code.ts'
import type { SsoParts } from './parts.ts'

export type NewFlow = {
  readonly connection: Pick<ConnectionTable, 'id' | 'organization_id'>
  /** The token of the browser that begins: it comes back to the same one. */
  readonly browser: string
  readonly next: string
  /** Who links their identity; null for signing in. */
  readonly userId: UserId | null
  readonly isProof: boolean
}

/** A person reads mail and finds a telephone meanwhile. */
export const flowLastsMs = 600_000

/** Notes a way to the provider that begins. */
export async function beginFlow(
  { db, clock, signIn }: SsoParts,
  { connection, browser, next, userId, isProof }: NewFlow,
): Promise<FlowSecrets> {
  const now = clock.nowMs()
  const secrets = { state: createToken(), nonce: createToken(), verifier: createToken() }
  const state_hash = hashToken(secrets.state)
  const { nonce, verifier } = secrets
  await db.deleteFrom('sso_flows').where('ends_at', '<=', now).execute()
  await db
    .insertInto('sso_flows')
    .values({
      state_hash,
      connection_id: connection.id,
      organization_id: connection.organization_id,
      browser_hash: hashToken(browser),
      sealed: seal(signIn.sealKey, `sso flow ${state_hash}`, JSON.stringify({ nonce, verifier })),
      next,
      user_id: userId,
      is_proof: isProof ? 1 : 0,
      ends_at: now + flowLastsMs,
      used_at: null,
    })
    .execute()
  return secrets
}

export type UsedFlow = {
  readonly row: SsoFlowTable
  readonly secrets: FlowSecrets
  readonly begunAtMs: number
}

type Given = {
  readonly connectionId: ConnectionId
  readonly states: readonly string[]
  readonly browser: string | null
}

/**
 * Uses up the way that an answer belongs to. Of two that come at once, on whichever gateways, one finds it used.
 *
 * Another browser's, and another connection's, is not found and stays as it is.
 */
export async function consumeFlow(
  { db, clock, signIn }: SsoParts,
  { connectionId, states, browser }: Given,
): Promise<UsedFlow> {
  const [state, ...others] = states
  if (state === undefined || others.length > 0 || !isToken(state) || browser === null) throw new SsoFault('no-flow')
  const now = clock.nowMs()
  const row = await db
    .updateTable('sso_flows')
    .set({ used_at: now })
    .where('state_hash', '=', hashToken(state))
    .where('connection_id', '=', connectionId)
    .where('browser_hash', '=', hashToken(browser))
    .where('used_at', 'is', null)
    .where('ends_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw new SsoFault('no-flow')
  const hidden = JSON.parse(unseal(signIn.sealKey, `sso flow ${row.state_hash}`, row.sealed)) as Omit<
    FlowSecrets,
    'state'
  >
  return { row, secrets: { state, ...hidden }, begunAtMs: row.ends_at - flowLastsMs }
}

const nextLengthMax = 2_000

/** A path of this service, where somebody goes on to; the first page for everything that could lead elsewhere. */
export function readNext(text: unknown): string {
  if (typeof text !== 'string' || text.length > nextLengthMax || !/^\/[!-~]*$/.test(text)) return '/'
  if (/^\/[/\\]|\\|%(?:0|1|5c|2f)/i.test(text)) return '/'
  const base = 'https://here.invalid'
  if (!URL.canParse(text, base)) return '/'
  const { origin, pathname, search, hash } = new URL(text, base)
  return origin === base && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}
