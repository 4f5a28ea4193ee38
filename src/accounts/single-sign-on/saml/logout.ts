// Signing out by SAML, in both directions. A provider’s word, brought by somebody's browser, that a session there is over
// is taken signed only: otherwise anybody could have anybody signed out, and learn by the answer who is known here. What
// begins here is over here before the browser brings the provider the request: its answer changes nothing, and says
// whether there is a session left at the provider.

import type { ConnectionId } from '../../../core/ids.ts'
import { XmlFault, scanXml, type XmlElement } from '../../../lib/xml/scan-xml.ts'
import { createToken, hashToken } from '../../sign-in/one-time.ts'
import { endSessionsByProvider } from '../end-by-provider.ts'
import { SsoFault } from '../fault.ts'
import type { SsoParts } from '../parts.ts'
import { samlAddresses } from './addresses.ts'
import { readTrusted } from './certificates.ts'
import { readKeys } from './keys.ts'
import { assertionNamespace, nameIdFormats, protocolNamespace, signatureNamespace } from './messages/names.ts'
import { readIssuer, readNameId, readTime, type NameId } from './messages/read-assertion.ts'
import { checkStatus, decodeMessage } from './messages/read-response.ts'
import { readRedirect, writeRedirect } from './messages/redirect-binding.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow, type Known } from './saml-sign-in.ts'
import { Sequence, isNamed, readAttributes, readText, shapeFault } from './messages/shape.ts'
import { subjectOf } from './to-claims.ts'
import { checkIds, messageBounds, verifySignature } from './messages/verify-signature.ts'
import { writeLogoutRequest, writeLogoutResponse } from './messages/write-request.ts'
import { noteAttempt } from '../attempts.ts'
import type { ConnectionRow } from '../read-connections.ts'

/** In an address, or in a form. */
export type LogoutMessage =
  | { readonly query: string }
  | { readonly request: string | null; readonly relayState: string | null }

/** Ends the sessions that a request names. Returns where the browser brings the answer; null where there is no place for it. */
export async function endBySaml(
  parts: SsoParts,
  connectionId: ConnectionId,
  message: LogoutMessage,
): Promise<string | null> {
  const connection = await findConnectionRow(parts, connectionId)
  if (connection.state !== 'on') throw new SsoFault('connection-off')
  const saml = await findSaml(parts.db, connectionId)
  const certificates = await readTrusted(parts, connection)
  const { request, relayState } = readMessage(message, certificates)
  check(parts, { connection, saml }, request)
  const { skewSeconds, answerMsMax } = parts.sso.saml
  await endSessionsByProvider(parts, connection, {
    messageId: `logout ${request.id}`,
    endsAtMs: request.issuedAtMs + answerMsMax + 2_000 * skewSeconds,
    subject: subjectOf(saml.name_id_format, request.nameId.value),
    sessions: request.sessions,
    repeated: 'saml-replay',
  })
  if (saml.sign_out_url === null) return null
  const [{ privateKey }] = readKeys(parts, connection)
  const reply = { id: `_${createToken()}`, nowMs: parts.clock.nowMs(), destination: saml.sign_out_url }
  const { entityId } = samlAddresses(parts, connectionId)
  const answer = writeLogoutResponse({ ...reply, entityId, inResponseTo: request.id })
  return writeRedirect({ location: saml.sign_out_url, field: 'SAMLResponse', message: answer, relayState, privateKey })
}

type LogoutRequest = {
  readonly id: string
  readonly issuedAtMs: number
  readonly notOnOrAfterMs: number | null
  readonly destination: string | null
  readonly issuer: string
  readonly nameId: NameId
  readonly sessions: readonly string[]
}

type Read = { readonly request: LogoutRequest; readonly relayState: string | null }
const relayStateBytesMax = 80

function readMessage(message: LogoutMessage, certificates: readonly string[]): Read {
  try {
    const { root, relayState } = 'query' in message ? fromQuery(message.query) : fromForm(message)
    // It is the provider’s own, and goes back to it as it came.
    if (Buffer.byteLength(relayState ?? '') > relayStateBytesMax) throw new SsoFault('answer-invalid')
    return { request: readRequest(root), relayState }
  } catch (cause) {
    throw cause instanceof XmlFault ? new SsoFault('saml-xml', { cause }) : cause
  }

  function fromQuery(query: string) {
    const { message: text, relayState } = readRedirect(query, { field: 'SAMLRequest', certificates })
    return { root: scan(text), relayState }
  }

  function fromForm({ request, relayState }: Exclude<LogoutMessage, { query: string }>) {
    if (request === null) throw new SsoFault('answer-invalid')
    const text = decodeMessage(request)
    return { root: verifySignature({ text, element: scan(text), certificates }), relayState }
  }
}

function scan(text: string): XmlElement {
  const root = scanXml(text, messageBounds)
  checkIds(root)
  return root
}

const sessionsMax = 100

function readRequest(element: XmlElement): LogoutRequest {
  if (!isNamed(element, protocolNamespace, 'LogoutRequest')) throw shapeFault('It is no request to sign somebody out')
  const names = ['ID', 'Version', 'IssueInstant', 'Destination', 'NotOnOrAfter', 'Reason', 'Consent'] as const
  const given = readAttributes(element, names)
  const { ID: id = '', Version } = given
  if (Version !== '2.0' || id === '' || id.length > 256) throw shapeFault('The request is not of version 2.0')
  const parts = new Sequence(element)
  const issuer = readIssuer(parts.need(assertionNamespace, 'Issuer'))
  parts.take(signatureNamespace, 'Signature')
  const nameId = readNameId(parts.need(assertionNamespace, 'NameID'))
  const sessions = parts.takeAll(protocolNamespace, 'SessionIndex').map(readText)
  parts.end()
  if (sessions.length > sessionsMax) throw shapeFault('The request names too many sessions')
  return {
    id,
    issuedAtMs: readTime(given.IssueInstant),
    notOnOrAfterMs: given.NotOnOrAfter === undefined ? null : readTime(given.NotOnOrAfter),
    destination: given.Destination ?? null,
    issuer,
    nameId,
    sessions,
  }
}

function check(parts: SsoParts, { connection, saml }: Known, request: LogoutRequest): void {
  const { entityId, sloUrl } = samlAddresses(parts, connection.id)
  if (request.issuer !== connection.issuer) throw new SsoFault('saml-issuer')
  if (request.destination !== sloUrl) throw new SsoFault('saml-addressee')
  const { format, qualifier, ownQualifier } = request.nameId
  const isOwn = (qualifier ?? connection.issuer) === connection.issuer && (ownQualifier ?? entityId) === entityId
  if (format !== nameIdFormats[saml.name_id_format] || !isOwn) throw new SsoFault('saml-name-id')
  const nowMs = parts.clock.nowMs()
  const { skewSeconds, answerMsMax } = parts.sso.saml
  const skewMs = skewSeconds * 1_000
  const isFresh = request.issuedAtMs <= nowMs + skewMs && request.issuedAtMs > nowMs - answerMsMax - skewMs
  const isOver = request.notOnOrAfterMs !== null && request.notOnOrAfterMs <= nowMs - skewMs
  if (!isFresh || isOver) throw new SsoFault('saml-time')
}

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

type SignedOut = {
  readonly issuer: string
  readonly issuedAtMs: number
  readonly destination: string | null
  readonly inResponseTo: string
}

function readAnswer(message: SignOutAnswer, certificates: readonly string[]): SignedOut {
  try {
    if ('query' in message) {
      return readSignOut(scan(readRedirect(message.query, { field: 'SAMLResponse', certificates }).message))
    }
    if (message.response === null) throw new SsoFault('answer-invalid')
    const text = decodeMessage(message.response)
    return readSignOut(verifySignature({ text, element: scan(text), certificates }))
  } catch (cause) {
    throw cause instanceof XmlFault ? new SsoFault('saml-xml', { cause }) : cause
  }
}

function readSignOut(element: XmlElement): SignedOut {
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
