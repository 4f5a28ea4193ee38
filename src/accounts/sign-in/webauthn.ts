// Passkeys (Web Authentication, level 3), without attestation: who makes the authenticator is not asked, so neither CBOR
// nor certificates have to be read. The browser hands the public key over as SubjectPublicKeyInfo.

import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'

const bytes = z
  .base64url()
  .max(16_384)
  .transform((text) => Buffer.from(text, 'base64url'))
const credentialId = z.base64url().min(2).max(1_400)

/** What a new passkey and one that was used tell alike. */
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: z.literal('public-key'),
  authenticatorAttachment: z.string().nullish(),
  clientExtensionResults: z.record(z.string(), z.unknown()).optional(),
}

/** What `PublicKeyCredential.toJSON()` gives for a new passkey. */
export const registrationResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    publicKey: bytes,
    publicKeyAlgorithm: z.int(),
    attestationObject: z.string().max(16_384).optional(),
    transports: z.array(z.string().max(32)).max(10).default([]),
  }),
})
export type RegistrationResponse = z.output<typeof registrationResponse>

/** What `PublicKeyCredential.toJSON()` gives for a passkey that was used. */
export const authenticationResponse = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: z.string().max(200).nullish(),
  }),
})
export type AuthenticationResponse = z.output<typeof authenticationResponse>

/** COSE's numbers of the algorithms: EdDSA with Ed25519, ECDSA with P-256, RSA with PKCS #1 1.5; the last two with SHA-256. */
export const algorithms = [-8, -7, -257] as const

/** Where a passkey is used: the origin of the page, and the host name that passkeys are bound to. */
export type RelyingParty = { readonly origin: string; readonly rpId: string }

export type Registered = {
  readonly id: string
  readonly publicKey: string
  readonly counter: number
  readonly isBackedUp: boolean
  readonly transports: readonly string[]
}

/** Reads a new passkey; null for one that was made elsewhere, without checking who its user is, or of an unknown kind. */
export function readRegistration({ id, response }: RegistrationResponse, party: RelyingParty): Registered | null {
  const data = readAuthenticatorData(response.authenticatorData, party)
  if (data === null || data.credentialId !== id || !isFor(response.clientDataJSON, 'webauthn.create', party))
    return null
  if (findKey(response.publicKey, response.publicKeyAlgorithm) === null) return null
  const publicKey = response.publicKey.toString('base64url')
  return { id, publicKey, counter: data.counter, isBackedUp: data.isBackedUp, transports: response.transports }
}

export type KnownPasskey = { readonly publicKey: string; readonly counter: number; readonly rpId: string }

/** Checks the signature of a passkey and what was signed; null where anything of it is not right. */
export function readAuthentication(
  { response }: AuthenticationResponse,
  known: KnownPasskey,
  party: RelyingParty,
): { readonly counter: number; readonly isBackedUp: boolean } | null {
  const data = readAuthenticatorData(response.authenticatorData, party)
  if (data === null || known.rpId !== party.rpId || !isFor(response.clientDataJSON, 'webauthn.get', party)) return null
  // Both zero stands for an authenticator that does not count. One that goes back is a copy.
  if ((data.counter > 0 || known.counter > 0) && data.counter <= known.counter) return null
  const signed = Buffer.concat([response.authenticatorData, sha256(response.clientDataJSON)])
  const key = createPublicKey({ key: Buffer.from(known.publicKey, 'base64url'), format: 'der', type: 'spki' })
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return isSigned(() => verify(digest, signed, key, response.signature)) ? data : null
}

/** Bytes that are no signature at all make the check throw; they are refused like a wrong signature. */
function isSigned(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}

const clientData = z.object({
  type: z.string(),
  challenge: z.base64url().min(20).max(200),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
})

/** The challenge that was signed; null for what is no client data. */
export function challengeOf(clientDataJson: Buffer): string | null {
  return parseClientData(clientDataJson)?.challenge ?? null
}

function parseClientData(text: Buffer): z.output<typeof clientData> | null {
  try {
    return clientData.parse(JSON.parse(text.toString('utf8')))
  } catch {
    return null
  }
}

function isFor(clientDataJson: Buffer, type: string, { origin }: RelyingParty): boolean {
  const data = parseClientData(clientDataJson)
  if (data === null || data.type !== type || data.origin !== origin) return false
  return data.crossOrigin !== true && data.topOrigin === undefined
}

const flag = { userPresent: 0x01, userVerified: 0x04, backedUp: 0x10, credential: 0x40 } as const
/** The hash of the host name, a byte of flags and the counter. */
const headBytes = 37
const modelBytes = 16

type AuthenticatorData = {
  readonly counter: number
  readonly isBackedUp: boolean
  readonly credentialId: string | null
}

function readAuthenticatorData(data: Buffer, { rpId }: RelyingParty): AuthenticatorData | null {
  if (data.length < headBytes || !data.subarray(0, 32).equals(sha256(rpId))) return null
  const flags = data[32] ?? 0
  if ((flags & flag.userPresent) === 0 || (flags & flag.userVerified) === 0) return null
  const isBackedUp = (flags & flag.backedUp) !== 0
  return { counter: data.readUInt32BE(33), isBackedUp, credentialId: readCredentialId(data, flags) }
}

function readCredentialId(data: Buffer, flags: number): string | null {
  const start = headBytes + modelBytes + 2
  if ((flags & flag.credential) === 0 || data.length < start) return null
  const length = data.readUInt16BE(start - 2)
  return data.length < start + length ? null : data.subarray(start, start + length).toString('base64url')
}

const rsaBitsMin = 2_048

/** Null for a key that is not of its algorithm, or too weak. */
function findKey(spki: Buffer, algorithm: number): KeyObject | null {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
    const isOfKind: Readonly<Record<number, boolean>> = {
      [-8]: key.asymmetricKeyType === 'ed25519',
      [-7]: key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1',
      [-257]: key.asymmetricKeyType === 'rsa' && modulusLength >= rsaBitsMin,
    }
    return isOfKind[algorithm] === true ? key : null
  } catch {
    return null
  }
}

function sha256(content: string | Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}
