// A provider's word, brought by somebody's browser, that a session there is over. It is taken signed only: otherwise
// anybody could have anybody signed out, and learn by the answer who is known here.

import type { ConnectionId } from '../../../core/ids.ts'
import { scanXml, XmlFault, type XmlElement } from '../../../lib/xml/scan-xml.ts'
import { createToken } from '../../sign-in/one-time.ts'
import { endSessionsByProvider } from '../end-by-provider.ts'
import { SsoFault } from '../fault.ts'
import type { SsoParts } from '../parts.ts'
import { samlAddresses } from './addresses.ts'
import { readTrusted } from './certificates.ts'
import { readKeys } from './keys.ts'
import { assertionNamespace, nameIdFormats, protocolNamespace, signatureNamespace } from './messages/names.ts'
import { readIssuer, readNameId, readTime, type NameId } from './messages/read-assertion.ts'
import { decodeMessage } from './messages/read-response.ts'
import { readRedirect, writeRedirect } from './messages/redirect-binding.ts'
import { findSaml } from './saml-row.ts'
import { findConnectionRow, type Known } from './saml-sign-in.ts'
import { isNamed, readAttributes, readText, Sequence, shapeFault } from './messages/shape.ts'
import { subjectOf } from './to-claims.ts'
import { checkIds, messageBounds, verifySignature } from './messages/verify-signature.ts'
import { writeLogoutResponse } from './messages/write-request.ts'

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
