// Web Authentication: a passkey is made or asked for by the browser, and what it says goes to the service as JSON.

import type { Operations } from './types.ts'

type NewPasskey = Operations['POST /api/v1/me/passkeys']['body']['response']
type KnownPasskey = Operations['POST /api/v1/session/passkey']['body']['response']

/** Whether passkeys work here: they need HTTPS or `localhost`, and a name. */
export function canUsePasskeys(): boolean {
  return (
    window.isSecureContext &&
    isName(location.hostname) &&
    'PublicKeyCredential' in window &&
    'parseCreationOptionsFromJSON' in PublicKeyCredential
  )
}

/** Whether a host is given by its name: no passkey belongs to an address such as `127.0.0.1` or `[::1]`. */
export function isName(host: string): boolean {
  return !/^\[|^[\d.]+$/.test(host)
}

/** Asks the browser for a new passkey. Null where the reader has called it off. */
export function createPasskey(publicKey: unknown): Promise<NewPasskey | null> {
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(publicKey as PublicKeyCredentialCreationOptionsJSON)
  return unlessCalledOff<NewPasskey>(() => navigator.credentials.create({ publicKey: options }))
}

/** Asks the browser for a passkey that is there. */
export function askForPasskey(publicKey: unknown): Promise<KnownPasskey | null> {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(publicKey as PublicKeyCredentialRequestOptionsJSON)
  return unlessCalledOff<KnownPasskey>(() => navigator.credentials.get({ publicKey: options }))
}

async function unlessCalledOff<Shown>(ask: () => Promise<Credential | null>): Promise<Shown | null> {
  try {
    const credential = await ask()
    return credential === null ? null : ((credential as PublicKeyCredential).toJSON() as Shown)
  } catch (error) {
    if (error instanceof DOMException && (error.name === 'NotAllowedError' || error.name === 'AbortError')) return null
    throw error
  }
}
