import type { FastifyReply, FastifyRequest } from 'fastify'
import { listAuditKeys } from '../accounts/transparency/signing-keys.ts'
import type { HttpParts } from './parts.ts'

export const auditKeysPath = '/.well-known/odyssey-audit-keys'

/** Anybody may ask, and the database is asked no more often than this for all of them. */
const keptMs = 10_000

type KeyParts = {
  readonly inference: Pick<HttpParts['inference'], 'clock'>
  readonly management: { readonly accounts: Pick<HttpParts['management']['accounts'], 'db'> }
}

/**
 * `GET /.well-known/odyssey-audit-keys`: the keys that sign the audit's checkpoints, the newest first.
 *
 * Without the names of logs, in which organizations stand: whoever has a checkpoint reads the name in its first line.
 */
export function auditKeysRoute({ inference: { clock }, management }: KeyParts) {
  let kept: { readonly text: Promise<string>; readonly untilMs: number } | null = null
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const nowMs = clock.monotonicMs()
    if (kept === null || kept.untilMs <= nowMs) {
      kept = { text: describeKeys(management.accounts), untilMs: nowMs + keptMs }
      // What could not be read is asked for again by the next one.
      kept.text.catch(() => (kept = null))
    }
    const text = await kept.text
    await reply.header('cache-control', 'public, max-age=10').type('application/json').send(text)
  }
}

async function describeKeys({ db }: KeyParts['management']['accounts']): Promise<string> {
  const keys = (await listAuditKeys(db)).toReversed().map(({ publicKey, createdAtMs }) => {
    return {
      algorithm: 'Ed25519',
      publicKey: Buffer.from(publicKey).toString('base64'),
      createdAt: new Date(createdAtMs).toISOString(),
    }
  })
  return JSON.stringify({ keys })
}
