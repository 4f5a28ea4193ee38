import { SsoFault } from '../../fault.ts'
import { nameIdFormats, type NameIdFormat } from './names.ts'
import type { Answer } from './read-response.ts'
import type { Assertion } from './read-assertion.ts'

/** What a connection and this service have agreed on. */
export type Agreement = {
  readonly issuer: string
  readonly nameIdFormat: NameIdFormat
  /** The kind of sign-in that is demanded; null for any. */
  readonly context: string | null
  /** The addresses of this service for the connection: its name, and where answers go. */
  readonly entityId: string
  readonly acsUrl: string
}

export type Moment = {
  readonly nowMs: number
  readonly skewMs: number
  /** How old an assertion may be, whatever it says itself. */
  readonly ageMsMax: number
}

/** No provider of people lets one sign-in be good for so long. */
const validityMsMax = 86_400_000

/** Throws unless an answer is from this provider, for this connection and for now. Returns until when it could be shown again. */
export function checkAnswer(answer: Answer, agreed: Agreement, moment: Moment): number {
  checkIssuers(answer, agreed)
  checkAddressee(answer, agreed)
  checkNameId(answer.assertion, agreed)
  if (agreed.context !== null && answer.assertion.authentication.context !== agreed.context) {
    throw new SsoFault('saml-context')
  }
  return checkTimes(answer, moment)
}

function checkIssuers({ isSigned, issuer, assertion }: Answer, agreed: Agreement): void {
  const isMissing = issuer === null && isSigned
  const isOther = issuer !== null && issuer !== agreed.issuer
  if (isMissing || isOther || assertion.issuer !== agreed.issuer) throw new SsoFault('saml-issuer')
}

function checkAddressee({ isSigned, destination, assertion }: Answer, { entityId, acsUrl }: Agreement): void {
  const isSent = destination === null ? !isSigned : destination === acsUrl
  const { audiences, confirmation } = assertion
  const isMeant = audiences.length > 0 && audiences.every((audience) => audience.includes(entityId))
  if (!isSent || !isMeant || confirmation.recipient !== acsUrl) throw new SsoFault('saml-addressee')
}

function checkNameId({ nameId }: Assertion, { nameIdFormat, issuer, entityId }: Agreement): void {
  const { format, qualifier, ownQualifier } = nameId
  const isOwn = (qualifier === null || qualifier === issuer) && (ownQualifier === null || ownQualifier === entityId)
  if (format !== nameIdFormats[nameIdFormat] || !isOwn) throw new SsoFault('saml-name-id')
}

function checkTimes({ issuedAtMs, assertion }: Answer, { nowMs, skewMs, ageMsMax }: Moment): number {
  const { confirmation, authentication, notBeforeMs, notOnOrAfterMs } = assertion
  const made = [issuedAtMs, assertion.issuedAtMs]
  const isFresh = made.every((ms) => ms <= nowMs + skewMs && ms > nowMs - ageMsMax - skewMs)
  const ends = [confirmation.notOnOrAfterMs, notOnOrAfterMs, authentication.sessionEndsAtMs].filter((ms) => ms !== null)
  const isOver = ends.some((ms) => ms <= nowMs - skewMs)
  const isEarly = notBeforeMs !== null && notBeforeMs > nowMs + skewMs
  const lasting = [confirmation.notOnOrAfterMs, notOnOrAfterMs ?? 0]
  const isEndless = lasting.some((ms) => ms > assertion.issuedAtMs + validityMsMax)
  const isAhead = authentication.atMs > nowMs + skewMs
  if (!isFresh || isOver || isEarly || isEndless || isAhead) throw new SsoFault('saml-time')
  return Math.min(confirmation.notOnOrAfterMs, assertion.issuedAtMs + ageMsMax) + 2 * skewMs
}

/** The id of the request that an answer belongs to, in both of its parts; null for one that nobody has asked for. */
export function requestOf({ inResponseTo, assertion }: Answer): string | null {
  if (inResponseTo === assertion.confirmation.inResponseTo) return inResponseTo
  // What is in the answer can have been changed on the way, what is said of somebody cannot.
  throw new SsoFault('saml-request')
}
