// A provider's answer, from its bytes to what it says. The order matters: it is looked over as a whole before any other
// program reads it, then its signatures are checked, and everything is read from what they cover.

import { decodeXml, scanXml, XmlFault, type XmlElement } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'
import { decryptAssertion } from './decrypt-assertion.ts'
import { assertionNamespace, protocolNamespace, signatureNamespace, success } from './names.ts'
import { readAssertion, readIssuer, readTime, type Assertion } from './read-assertion.ts'
import { isNamed, readAttributes, readText, Sequence, shapeFault } from './shape.ts'
import { checkIds, findSignature, idOf, isBase64, messageBounds, verifySignature } from './verify-signature.ts'

export type SamlKeys = {
  /** Certificates of the provider, in base64. */
  readonly certificates: readonly string[]
  /** This service’s own private keys, in PEM. */
  readonly privateKeys: readonly string[]
}

export type Answer = {
  /** Whether the answer as a whole is signed, and not just what it says of somebody. */
  readonly isSigned: boolean
  readonly issuer: string | null
  readonly issuedAtMs: number
  readonly destination: string | null
  readonly inResponseTo: string | null
  readonly assertion: Assertion
}

/** Reads an answer as it stands in a form. Throws for everything that is not signed, and not of the one form there is. */
export function readResponse(encoded: string, keys: SamlKeys): Answer {
  try {
    return read(decodeMessage(encoded), keys)
  } catch (cause) {
    throw cause instanceof XmlFault ? new SsoFault('saml-xml', { cause }) : cause
  }
}

/** The text of a message that came in base64. */
export function decodeMessage(encoded: string): string {
  if (!isBase64(encoded)) throw new XmlFault('The message is no base64.')
  return decodeXml(Buffer.from(encoded, 'base64'))
}

function read(text: string, { certificates, privateKeys }: SamlKeys): Answer {
  const sent = scanXml(text, messageBounds)
  checkIds(sent)
  const shape = readShape(sent)
  const isSigned = findSignature(sent) !== null
  const root = isSigned ? verifySignature({ text, element: sent, certificates }) : sent
  const { assertion, encrypted, ...facts } = isSigned ? readShape(root) : shape
  const found =
    encrypted === null
      ? { element: assertion as XmlElement, text }
      : open(decryptAssertion(encrypted, { keys: privateKeys, isSigned }))
  const { element } = found
  if (!isNamed(element, assertionNamespace, 'Assertion')) throw shapeFault('What is encrypted is no assertion')
  // What was signed by itself is read from what its own signature covers, in the document that it came in.
  const sentAssertion = encrypted === null ? (shape.assertion ?? element) : element
  if (findSignature(sentAssertion) === null) {
    if (!isSigned) throw new SsoFault('saml-unsigned')
    return { ...facts, isSigned, assertion: readAssertion(element) }
  }
  const verified = verifySignature({ text: found.text, element: sentAssertion, certificates })
  return { ...facts, isSigned, assertion: readAssertion(verified) }
}

function open(text: string): { readonly element: XmlElement; readonly text: string } {
  const element = scanXml(text, messageBounds)
  checkIds(element)
  return { element, text }
}

type Shape = Omit<Answer, 'isSigned' | 'assertion'> & {
  readonly assertion: XmlElement | null
  readonly encrypted: XmlElement | null
}

function readShape(element: XmlElement): Shape {
  if (!isNamed(element, protocolNamespace, 'Response')) throw shapeFault('It is no response')
  const given = readAttributes(element, ['ID', 'Version', 'IssueInstant', 'Destination', 'InResponseTo', 'Consent'])
  if (given.Version !== '2.0') throw shapeFault('The response is not of version 2.0')
  idOf(element)
  const parts = new Sequence(element)
  const issuer = parts.take(assertionNamespace, 'Issuer')
  parts.take(signatureNamespace, 'Signature')
  checkStatus(parts.need(protocolNamespace, 'Status'))
  const assertion = parts.take(assertionNamespace, 'Assertion')
  const encrypted = assertion === null ? parts.need(assertionNamespace, 'EncryptedAssertion') : null
  parts.end()
  return {
    issuer: issuer === null ? null : readIssuer(issuer),
    issuedAtMs: readTime(given.IssueInstant),
    destination: given.Destination ?? null,
    inResponseTo: given.InResponseTo ?? null,
    assertion,
    encrypted,
  }
}

/** Throws where the provider says that it has not signed somebody in, whatever else it says. */
export function checkStatus(status: XmlElement): void {
  const parts = new Sequence(status)
  const code = parts.need(protocolNamespace, 'StatusCode')
  const { Value } = readAttributes(code, ['Value'])
  if (Value !== success) throw new SsoFault('provider-refused')
  new Sequence(code).end()
  const message = parts.take(protocolNamespace, 'StatusMessage')
  if (message !== null) readText(message)
  parts.end()
}
