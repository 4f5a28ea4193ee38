import type { ConnectionId } from '../../../core/ids.ts'
import { createCertifiedKey, type CertifiedKey } from './certified-key.ts'
import { seal, unseal } from '../../../lib/seal.ts'
import type { SignInParts } from '../../sign-in/parts.ts'
import type { ConnectionRow } from '../read-connections.ts'

const lastsMs = 10 * 365 * 86_400_000

/** A key of this service for one connection: requests are signed with it, and assertions encrypted for it. */
export function createSamlKey({ clock }: Pick<SignInParts, 'clock'>, id: ConnectionId): Promise<CertifiedKey> {
  return createCertifiedKey({ name: `Odyssey ${id}`, nowMs: clock.nowMs(), lastsMs })
}

export function sealKeys(
  { signIn }: Pick<SignInParts, 'signIn'>,
  id: ConnectionId,
  keys: readonly CertifiedKey[],
): string {
  return seal(signIn.sealKey, `connection ${id}`, JSON.stringify(keys))
}

/** The keys of a connection: the one that signs, and where there are two the one that takes its place. */
export function readKeys(
  { signIn }: Pick<SignInParts, 'signIn'>,
  { id, secret_sealed }: Pick<ConnectionRow, 'id' | 'secret_sealed'>,
): readonly [CertifiedKey, ...CertifiedKey[]] {
  return JSON.parse(unseal(signIn.sealKey, `connection ${id}`, secret_sealed)) as [CertifiedKey, ...CertifiedKey[]]
}
