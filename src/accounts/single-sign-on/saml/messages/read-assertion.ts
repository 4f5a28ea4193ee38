import { isPrintable } from '../../../../lib/is-printable.ts'
import type { XmlElement } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'
import {
  assertionNamespace,
  bearer,
  entityFormat,
  nameIdFormats,
  schemaInstanceNamespace,
  signatureNamespace,
} from './names.ts'
import { isNamed, readAttributes, readText, Sequence, shapeFault } from './shape.ts'
import { idOf } from './verify-signature.ts'

/** What a provider says of somebody. Nothing of it is checked against the connection or a clock yet. */
export type Assertion = {
  readonly id: string
  readonly issuedAtMs: number
  readonly issuer: string
  readonly nameId: NameId
  readonly confirmation: Confirmation
  readonly notBeforeMs: number | null
  readonly notOnOrAfterMs: number | null
  /** Of each restriction the audiences, one of which has to be this service. */
  readonly audiences: readonly (readonly string[])[]
  readonly authentication: Authentication
  readonly attributes: ReadonlyMap<string, readonly string[]>
}

export type NameId = {
  readonly value: string
  readonly format: string
  readonly qualifier: string | null
  readonly ownQualifier: string | null
}

type Confirmation = {
  readonly inResponseTo: string | null
  readonly recipient: string
  readonly notOnOrAfterMs: number
}

type Authentication = {
  readonly atMs: number
  readonly session: string | null
  readonly sessionEndsAtMs: number | null
  readonly context: string
}

export function readAssertion(element: XmlElement): Assertion {
  if (!isNamed(element, assertionNamespace, 'Assertion')) throw shapeFault('It is no assertion')
  const { Version, IssueInstant } = readAttributes(element, ['ID', 'Version', 'IssueInstant'])
  if (Version !== '2.0') throw shapeFault('The assertion is not of version 2.0')
  const parts = new Sequence(element)
  const issuer = readIssuer(parts.need(assertionNamespace, 'Issuer'))
  parts.take(signatureNamespace, 'Signature')
  const subject = parts.take(assertionNamespace, 'Subject')
  if (subject === null) throw new SsoFault('saml-name-id')
  const { nameId, confirmation } = readSubject(subject)
  const conditions = parts.take(assertionNamespace, 'Conditions')
  if (conditions === null) throw new SsoFault('saml-addressee')
  const { authentication, statements } = readOrder(parts)
  return {
    id: idOf(element),
    issuedAtMs: readTime(IssueInstant),
    issuer,
    nameId,
    confirmation,
    ...readConditions(conditions),
    authentication: readAuthentication(authentication),
    attributes: readStatements(statements),
  }
}

/** Some providers put what they know of a person before how they have asked, and some after it. */
function readOrder(parts: Sequence): { authentication: XmlElement; statements: readonly XmlElement[] } {
  const before = parts.takeAll(assertionNamespace, 'AttributeStatement')
  const authentication = parts.need(assertionNamespace, 'AuthnStatement')
  const after = parts.takeAll(assertionNamespace, 'AttributeStatement')
  parts.end()
  return { authentication, statements: [...before, ...after] }
}

/** The name of whoever speaks. */
export function readIssuer(element: XmlElement): string {
  const { Format = entityFormat } = readAttributes(element, ['Format'])
  if (Format !== entityFormat) throw new SsoFault('saml-issuer')
  return readText(element)
}

function readSubject(subject: XmlElement): Pick<Assertion, 'nameId' | 'confirmation'> {
  readAttributes(subject, [])
  const parts = new Sequence(subject)
  const nameId = parts.take(assertionNamespace, 'NameID')
  if (nameId === null) throw new SsoFault('saml-name-id')
  if (parts.take(assertionNamespace, 'NameID') !== null) throw new SsoFault('saml-name-id')
  const confirmation = parts.take(assertionNamespace, 'SubjectConfirmation')
  if (confirmation === null) throw new SsoFault('saml-confirmation')
  parts.end()
  return { nameId: readNameId(nameId), confirmation: readConfirmation(confirmation) }
}

const nameIdLengthMax = 256

export function readNameId(element: XmlElement): NameId {
  const { Format, NameQualifier, SPNameQualifier } = readAttributes(element, [
    'Format',
    'NameQualifier',
    'SPNameQualifier',
  ])
  const value = readText(element)
  const isUsable = value !== '' && value.length <= nameIdLengthMax && value === value.trim() && isPrintable(value)
  if (!isUsable) throw new SsoFault('saml-name-id')
  const format = Format ?? nameIdFormats.unspecified
  return { value, format, qualifier: NameQualifier ?? null, ownQualifier: SPNameQualifier ?? null }
}

function readConfirmation(element: XmlElement): Confirmation {
  if (readAttributes(element, ['Method']).Method !== bearer) throw new SsoFault('saml-confirmation')
  const parts = new Sequence(element)
  const data = parts.take(assertionNamespace, 'SubjectConfirmationData')
  if (data === null) throw new SsoFault('saml-confirmation')
  parts.end()
  new Sequence(data).end()
  const given = readAttributes(data, ['InResponseTo', 'Recipient', 'NotOnOrAfter', 'NotBefore', 'Address'])
  // Whoever bears it can use it at once; a beginning of its own is for assertions that are not borne.
  if (given.NotBefore !== undefined) throw new SsoFault('saml-confirmation')
  if (given.Recipient === undefined) throw new SsoFault('saml-addressee')
  if (given.NotOnOrAfter === undefined) throw new SsoFault('saml-time')
  const { InResponseTo = null, Recipient: recipient } = given
  return { inResponseTo: InResponseTo, recipient, notOnOrAfterMs: readTime(given.NotOnOrAfter) }
}

function readConditions(element: XmlElement): Pick<Assertion, 'notBeforeMs' | 'notOnOrAfterMs' | 'audiences'> {
  const { NotBefore, NotOnOrAfter } = readAttributes(element, ['NotBefore', 'NotOnOrAfter'])
  const audiences: (readonly string[])[] = []
  const rest = new Sequence(element)
  for (;;) {
    const restriction = rest.take(assertionNamespace, 'AudienceRestriction')
    if (restriction !== null) audiences.push(readAudiences(restriction))
    else if (rest.take(assertionNamespace, 'OneTimeUse') === null) break
  }
  rest.end()
  const toTime = (text: string | undefined) => (text === undefined ? null : readTime(text))
  return { notBeforeMs: toTime(NotBefore), notOnOrAfterMs: toTime(NotOnOrAfter), audiences }
}

function readAudiences(restriction: XmlElement): readonly string[] {
  readAttributes(restriction, [])
  const parts = new Sequence(restriction)
  const audiences = parts.takeAll(assertionNamespace, 'Audience').map(readText)
  parts.end()
  return audiences
}

function readAuthentication(element: XmlElement): Authentication {
  const given = readAttributes(element, ['AuthnInstant', 'SessionIndex', 'SessionNotOnOrAfter'])
  const parts = new Sequence(element)
  const locality = parts.take(assertionNamespace, 'SubjectLocality')
  if (locality !== null) new Sequence(locality).end()
  const context = new Sequence(parts.need(assertionNamespace, 'AuthnContext'))
  const reference = readText(context.need(assertionNamespace, 'AuthnContextClassRef')).trim()
  context.takeAll(assertionNamespace, 'AuthenticatingAuthority').forEach(readText)
  context.end()
  parts.end()
  const { SessionIndex = null, SessionNotOnOrAfter } = given
  if (SessionIndex !== null && (SessionIndex === '' || SessionIndex.length > 255))
    throw shapeFault('A session has no name')
  return {
    atMs: readTime(given.AuthnInstant),
    session: SessionIndex,
    sessionEndsAtMs: SessionNotOnOrAfter === undefined ? null : readTime(SessionNotOnOrAfter),
    context: reference,
  }
}

/** Names that programs have for themselves are given to nobody’s attribute. */
const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const valuesMax = 2_000

function readStatements(statements: readonly XmlElement[]): ReadonlyMap<string, readonly string[]> {
  const read = new Map<string, readonly string[]>()
  for (const statement of statements) {
    const parts = new Sequence(statement)
    for (const element of parts.takeAll(assertionNamespace, 'Attribute')) {
      const [name, values] = readAttribute(element)
      // Of two with one name, one reader takes the first and another the last.
      if (reservedNames.has(name) || read.has(name)) throw new SsoFault('saml-attribute')
      read.set(name, values)
    }
    parts.end()
  }
  return read
}

function readAttribute(element: XmlElement): readonly [string, readonly string[]] {
  const { attributes } = element
  const plain = { ...element, attributes: attributes.filter(({ namespace }) => namespace === '') }
  const { Name = '' } = readAttributes(plain, ['Name', 'NameFormat', 'FriendlyName'])
  if (Name === '' || Name.length > 500) throw new SsoFault('saml-attribute')
  const parts = new Sequence(element)
  const values = parts.takeAll(assertionNamespace, 'AttributeValue')
  parts.end()
  if (values.length > valuesMax) throw new SsoFault('saml-attribute')
  return [Name, values.flatMap(readValue)]
}

/** A value that is a text, with the type that it may have; a name in it is another kind of value, and not read. */
function readValue({ attributes, children }: XmlElement): readonly string[] {
  if (attributes.some(({ namespace }) => namespace !== schemaInstanceNamespace)) throw new SsoFault('saml-attribute')
  const isNil = attributes.some(({ name, value }) => name === 'nil' && /^(?:true|1)$/.test(value))
  const elements = children.filter((child) => typeof child !== 'string')
  if (elements.some((child) => !isNamed(child, assertionNamespace, 'NameID'))) throw new SsoFault('saml-attribute')
  return isNil || elements.length > 0 ? [] : [children.map(String).join('')]
}

/** An instant in UTC, as SAML has it. Throws for dates that there are none, and for other ways to write them. */
export function readTime(text: string | undefined): number {
  const [, date, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)(\.\d{1,9})?Z$/.exec(text ?? '') ?? []
  if (date === undefined || seconds === undefined) throw new SsoFault('saml-time')
  const ms = Date.parse(`${date}${seconds}Z`)
  // A day that a month does not have would be one of the next.
  const isReal = Number.isFinite(ms) && new Date(ms).toISOString().startsWith(`${date}${seconds}`)
  if (!isReal) throw new SsoFault('saml-time')
  return ms + Math.trunc(Number(`0${fraction}`) * 1_000)
}
