import { api } from '../api/client.ts'
import { askForPasskey } from '../api/passkey.ts'

/** Asks the reader for their passkey, which counts as used then. Resolves with whether they showed it. */
export async function proveByPasskey(): Promise<boolean> {
  const { publicKey } = await api('POST /api/v1/session/passkey/options', { body: { for: 'proof' } })
  const response = await askForPasskey(publicKey)
  if (response === null) return false
  await api('POST /api/v1/session/proof', { body: { response } })
  return true
}
