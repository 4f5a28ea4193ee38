import type { ConnectionId } from '../../core/ids.ts'
import type { SsoParts } from './parts.ts'

type Message = { readonly connectionId: ConnectionId; readonly messageId: string; readonly endsAtMs: number }

/** Notes that a message of a provider has counted. False for one that has so before, on whichever gateway. */
export async function useMessage(
  { db, clock }: Pick<SsoParts, 'db' | 'clock'>,
  { connectionId, messageId, endsAtMs }: Message,
): Promise<boolean> {
  await db.deleteFrom('used_messages').where('ends_at', '<=', clock.nowMs()).execute()
  const first = await db
    .insertInto('used_messages')
    .values({ connection_id: connectionId, message_id: messageId, ends_at: endsAtMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('message_id')
    .executeTakeFirst()
  return first !== undefined
}
