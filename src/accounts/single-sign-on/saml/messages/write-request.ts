import { escapeXml } from '../../../../lib/xml/write-xml.ts'
import {
  assertionNamespace,
  nameIdFormats,
  postBinding,
  protocolNamespace,
  success,
  type NameIdFormat,
} from './names.ts'
import type { NameId } from './read-assertion.ts'

type Request = {
  readonly id: string
  readonly nowMs: number
  readonly destination: string
  readonly entityId: string
  readonly acsUrl: string
  readonly nameIdFormat: NameIdFormat
  /** Whether the provider has to ask anew who somebody is. */
  readonly isForced: boolean
  readonly context: string | null
}

/** The question who somebody is, for their browser to bring to the provider. */
export function writeAuthnRequest(request: Request): string {
  const { id, nowMs, destination, entityId, acsUrl, nameIdFormat, isForced, context } = request
  const forced = isForced ? ' ForceAuthn="true"' : ''
  const demanded =
    context === null
      ? ''
      : `<samlp:RequestedAuthnContext Comparison="exact"><saml:AuthnContextClassRef>${escapeXml(context)}` +
        `</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>`
  return (
    `<samlp:AuthnRequest ${head({ id, nowMs, destination })} ProtocolBinding="${postBinding}"` +
    ` AssertionConsumerServiceURL="${escapeXml(acsUrl)}"${forced}>` +
    `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>` +
    `<samlp:NameIDPolicy Format="${nameIdFormats[nameIdFormat]}" AllowCreate="true"/>${demanded}</samlp:AuthnRequest>`
  )
}

type SignOut = Pick<Request, 'id' | 'nowMs' | 'destination' | 'entityId'> & {
  readonly nameId: NameId
  readonly session: string | null
  readonly endsAtMs: number
}

/** The request to sign somebody out, who is named as the provider has named them. */
export function writeLogoutRequest({ entityId, nameId, session, endsAtMs, ...rest }: SignOut): string {
  const { value, format, qualifier, ownQualifier } = nameId
  const attributes = { Format: format, NameQualifier: qualifier, SPNameQualifier: ownQualifier }
  const named = Object.entries(attributes).flatMap(([name, text]) => {
    return text === null ? [] : [` ${name}="${escapeXml(text)}"`]
  })
  const index = session === null ? '' : `<samlp:SessionIndex>${escapeXml(session)}</samlp:SessionIndex>`
  return (
    `<samlp:LogoutRequest ${head(rest)} NotOnOrAfter="${toInstant(endsAtMs)}">` +
    `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>` +
    `<saml:NameID${named.join('')}>${escapeXml(value)}</saml:NameID>${index}</samlp:LogoutRequest>`
  )
}

type Reply = Pick<Request, 'id' | 'nowMs' | 'destination' | 'entityId'> & { readonly inResponseTo: string }

/** The answer to a provider that has signed somebody out. */
export function writeLogoutResponse({ entityId, inResponseTo, ...rest }: Reply): string {
  return (
    `<samlp:LogoutResponse ${head(rest)} InResponseTo="${escapeXml(inResponseTo)}">` +
    `<saml:Issuer>${escapeXml(entityId)}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="${success}"/></samlp:Status></samlp:LogoutResponse>`
  )
}

function head({ id, nowMs, destination }: Pick<Request, 'id' | 'nowMs' | 'destination'>): string {
  return (
    `xmlns:samlp="${protocolNamespace}" xmlns:saml="${assertionNamespace}" ID="${escapeXml(id)}" Version="2.0"` +
    ` IssueInstant="${toInstant(nowMs)}" Destination="${escapeXml(destination)}"`
  )
}

function toInstant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
