import type { Selectable } from 'kysely'
import type { SsoResultTable } from '../../../db/tables/saml.ts'
import { unseal } from '../../../lib/seal.ts'
import { hashToken, isToken } from '../../sign-in/one-time.ts'
import type { Browser } from '../../sign-in/sessions.ts'
import { noteAttempt } from '../attempts.ts'
import { conclude } from '../conclude.ts'
import { SsoFault } from '../fault.ts'
import type { SsoParts } from '../parts.ts'
import type { Finished } from '../sign-in-by-connection.ts'
import { findConnectionRow, type Said } from './saml-sign-in.ts'

export type CameBack = {
  readonly handle: string | null
  /** The token of the browser that asks; null for one that has begun nothing. */
  readonly browserToken: string | null
  readonly browser: Browser
}

/** Finishes a way to a provider in the browser that began it, once. */
export async function completeBySaml(parts: SsoParts, { handle, browserToken, browser }: CameBack): Promise<Finished> {
  if (handle === null || !isToken(handle)) throw new SsoFault('no-flow')
  const found = await parts.db
    .selectFrom('sso_results')
    .selectAll()
    .where('handle_hash', '=', hashToken(handle))
    .executeTakeFirst()
  if (found === undefined) throw new SsoFault('no-flow')
  const connection = await findConnectionRow(parts, found.connection_id)
  try {
    await useResult(parts, found, browserToken)
    const isUsable = connection.state === 'on' || (connection.state === 'draft' && found.user_id !== null)
    if (!isUsable) throw new SsoFault('connection-off')
    const said = JSON.parse(unseal(parts.signIn.sealKey, `sso result ${found.handle_hash}`, found.sealed)) as Said
    const concluding = { connection, ...said, linking: found.user_id, browser, isProof: found.is_proof === 1 }
    const { token, userId } = await conclude(parts, concluding)
    await noteAttempt(parts, { connection, outcome: token === null ? 'linked' : 'signed-in', code: null, userId })
    return { next: found.next, token }
  } catch (error) {
    if (error instanceof SsoFault) {
      await noteAttempt(parts, { connection, outcome: 'refused', code: error.code, userId: null })
    }
    throw error
  }
}

/** Another browser’s stays as it is. */
async function useResult(
  { db, clock }: Pick<SsoParts, 'db' | 'clock'>,
  { handle_hash }: Selectable<SsoResultTable>,
  browserToken: string | null,
): Promise<void> {
  const now = clock.nowMs()
  const used =
    browserToken === null
      ? undefined
      : await db
          .updateTable('sso_results')
          .set({ used_at: now })
          .where('handle_hash', '=', handle_hash)
          .where('browser_hash', '=', hashToken(browserToken))
          .where('used_at', 'is', null)
          .where('ends_at', '>', now)
          .returning('handle_hash')
          .executeTakeFirst()
  if (used === undefined) throw new SsoFault('no-flow')
}
