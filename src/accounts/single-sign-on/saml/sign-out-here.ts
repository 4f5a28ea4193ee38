// Signing out that begins here: the browser brings the provider a request, and this service the provider's answer. By
// then the session here is over already, so an answer changes nothing: it says whether there is one left at the provider.

import type { ConnectionId } from '../../../core/ids.ts'
import { scanXml, XmlFault, type XmlElement } from '../../../lib/xml/scan-xml.ts'
import { createToken, hashToken } from '../../sign-in/one-time.ts'
import { noteAttempt } from '../attempts.ts'
import { SsoFault } from '../fault.ts'
import type { SsoParts } from '../parts.ts'
import type { ConnectionRow } from '../read-connections.ts'
import { samlAddresses } from './addresses.ts'
import { readTrusted } from './certificates.ts'
import { readKeys } from './keys.ts'
import { assertionNamespace, protocolNamespace, signatureNamespace } from './messages/names.ts'
import { readIssuer, readTime, type NameId } from './messages/read-assertion.ts'
import { checkStatus, decodeMessage } from './messages/read-response.ts'
import { readRedirect, writeRedirect } from './messages/redirect-binding.ts'
import { isNamed, readAttributes, Sequence, shapeFault } from './messages/shape.ts'
import { checkIds, messageBounds, verifySignature } from './messages/verify-signature.ts'
import { writeLogoutRequest } from './messages/write-request.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow } from './saml-sign-in.ts'

/** Somebody as the provider has named them, and how it calls its own session. */
export type SignedInThere = { readonly nameId: NameId; readonly session: string | null }

/** A person looks at what the provider says meanwhile. */
const lastsMs = 600_000

/** The address at which the provider signs somebody out; null where it has none. */
export async function addressToSignOutBySaml(
  parts: SsoParts,
  connection: ConnectionRow,
  { nameId, session }: SignedInThere,
): Promise<string | null> {
  const { db, clock } = parts
  const { sign_out_url: location } = await findSaml(db, connection.id)
  if (location === null) return null
  const nowMs = clock.nowMs()
  const state = createToken()
  await db.deleteFrom('sso_sign_outs').where('ends_at', '<=', nowMs).execute()
  await db
    .insertInto('sso_sign_outs')
    .values({
      request_hash: hashToken(state),
      connection_id: connection.id,
      organization_id: connection.organization_id,
      ends_at: nowMs + lastsMs,
      used_at: null,
    })
    .execute()
  const { entityId } = samlAddresses(parts, connection.id)
  const request = { id: `_${state}`, nowMs, destination: location, entityId, endsAtMs: nowMs + lastsMs }
  const message = writeLogoutRequest({ ...request, nameId, session })
  const [{ privateKey }] = readKeys(parts, connection)
  return writeRedirect({ location, field: 'SAMLRequest', message, relayState: null, privateKey })
}

/** In an address, or in a form. */
export type SignOutAnswer = { readonly query: string } | { readonly response: string | null }

/** Takes a provider's answer. Throws unless it says, signed and to a request of ours, that it has signed somebody out. */
export async function receiveSignOut(
  parts: SsoParts,
  connectionId: ConnectionId,
  message: SignOutAnswer,
): Promise<void> {
  const connection = await findConnectionRow(parts, connectionId)
  try {
    await receive(parts, connection, message)
  } catch (error) {
    if (error instanceof SsoFault) {
      await noteAttempt(parts, { connection, outcome: 'refused', code: error.code, userId: null })
    }
    throw error
  }
}

async function receive(parts: SsoParts, connection: ConnectionRow, message: SignOutAnswer): Promise<void> {
  const { id, issuer } = connection
  const answer = readAnswer(message, await readTrusted(parts, connection))
  const { sloUrl } = samlAddresses(parts, id)
  if (answer.issuer !== issuer) throw new SsoFault('saml-issuer')
  if (answer.destination !== sloUrl) throw new SsoFault('saml-addressee')
  const nowMs = parts.clock.nowMs()
  const skewMs = parts.sso.saml.skewSeconds * 1_000
  const ageMs = nowMs - answer.issuedAtMs
  if (ageMs < -skewMs || ageMs > parts.sso.saml.answerMsMax + skewMs) throw new SsoFault('saml-time')
  const used = await parts.db
    .updateTable('sso_sign_outs')
    .set({ used_at: nowMs })
    .where('request_hash', '=', hashToken(answer.inResponseTo.slice(1)))
    .where('connection_id', '=', id)
    .where('used_at', 'is', null)
    .where('ends_at', '>', nowMs)
    .returning('request_hash')
    .executeTakeFirst()
  if (used === undefined) throw new SsoFault('no-flow')
}

type Answer = {
  readonly issuer: string
  readonly issuedAtMs: number
  readonly destination: string | null
  readonly inResponseTo: string
}

function readAnswer(message: SignOutAnswer, certificates: readonly string[]): Answer {
  try {
    if ('query' in message) {
      return readShape(scan(readRedirect(message.query, { field: 'SAMLResponse', certificates }).message))
    }
    if (message.response === null) throw new SsoFault('answer-invalid')
    const text = decodeMessage(message.response)
    return readShape(verifySignature({ text, element: scan(text), certificates }))
  } catch (cause) {
    throw cause instanceof XmlFault ? new SsoFault('saml-xml', { cause }) : cause
  }
}

function scan(text: string): XmlElement {
  const root = scanXml(text, messageBounds)
  checkIds(root)
  return root
}

function readShape(element: XmlElement): Answer {
  if (!isNamed(element, protocolNamespace, 'LogoutResponse')) throw shapeFault('It is no answer to a sign-out')
  const given = readAttributes(element, ['ID', 'Version', 'IssueInstant', 'Destination', 'InResponseTo', 'Consent'])
  const { Version, InResponseTo: inResponseTo = '' } = given
  if (Version !== '2.0') throw shapeFault('The answer is not of version 2.0')
  const parts = new Sequence(element)
  const issuer = readIssuer(parts.need(assertionNamespace, 'Issuer'))
  parts.take(signatureNamespace, 'Signature')
  checkStatus(parts.need(protocolNamespace, 'Status'))
  parts.end()
  return { issuer, issuedAtMs: readTime(given.IssueInstant), destination: given.Destination ?? null, inResponseTo }
}
