// Checks the signature of one element. What is read afterwards are the canonical bytes that were signed, never the
// document they came in: where a signature stands, and what it covers, is decided here and not by the library.

import { scanXml, type XmlElement } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'
import { loadParserLibrary, loadSignatureLibrary, type XmlNode } from './libraries.ts'
import {
  canonicalization,
  enveloped,
  rsaSha256,
  rsaSha512,
  sha256Digest,
  sha512Digest,
  signatureNamespace,
} from './names.ts'
import { isNamed, readAttributes, readText, Sequence, shapeFault } from './shape.ts'

/** A message of a provider is some KiB; with 2,000 groups in it some hundred. */
export const messageBounds = { lengthMax: 262_144, elementsMax: 4_000 } as const

export type Signed = {
  /** The document as it came, and the element in it whose signature is checked: its root, or a child of that. */
  readonly text: string
  readonly element: XmlElement
  /** Certificates in base64, any of which may have signed. */
  readonly certificates: readonly string[]
}

/** The signature of an element; null where it has none. */
export function findSignature({ children }: XmlElement): XmlElement | null {
  const found = children.filter((child) => typeof child !== 'string' && isNamed(child, signatureNamespace, 'Signature'))
  if (found.length > 1) throw shapeFault('An element has two signatures')
  return (found[0] as XmlElement | undefined) ?? null
}

/** The element as it was signed, read anew. Throws where it is not signed by one of the certificates in the way agreed. */
export function verifySignature({ text, element, certificates }: Signed): XmlElement {
  const signature = findSignature(element)
  if (signature === null) throw new SsoFault('saml-unsigned')
  const id = idOf(element)
  checkSignature(signature, id)
  for (const certificate of certificates) {
    const canonical = verifyBy(text, id, certificate)
    if (canonical === null) continue
    const verified = scanXml(canonical, messageBounds)
    const isSame = isNamed(verified, element.namespace, element.name) && idOf(verified) === id
    if (!isSame) throw new SsoFault('saml-signature')
    return verified
  }
  throw new SsoFault('saml-signature')
}

/** The canonical bytes that were signed; null where this certificate’s key has not signed them. */
function verifyBy(text: string, id: string, certificate: string): string | null {
  const { SignedXml } = loadSignatureLibrary()
  const { DOMParser } = loadParserLibrary()
  const verifier = new SignedXml({ publicCert: toPem(certificate), getCertFromKeyInfo: () => null })
  verifier.SignatureAlgorithms = only(verifier.SignatureAlgorithms, [rsaSha256, rsaSha512])
  verifier.HashAlgorithms = only(verifier.HashAlgorithms, [sha256Digest, sha512Digest])
  verifier.CanonicalizationAlgorithms = only(verifier.CanonicalizationAlgorithms, [canonicalization, enveloped])
  try {
    const node = locate(new DOMParser().parseFromString(text, 'text/xml').documentElement, id)
    if (node === null) return null
    verifier.loadSignature(node)
    if (!verifier.checkSignature(text)) return null
  } catch {
    // It says by throwing too that a signature is none of this key.
    return null
  }
  const [canonical, ...others] = verifier.getSignedReferences()
  return others.length === 0 ? (canonical ?? null) : null
}

export function toPem(certificate: string): string {
  return `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/.{64}/g, '$&\n').trim()}\n-----END CERTIFICATE-----\n`
}

function only<Value>(all: Readonly<Record<string, Value>>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
}

/** The signature of the root, or of a child of it, that has this id. */
function locate(root: XmlNode, id: string): XmlNode | null {
  const found = [root, ...Array.from(root.childNodes)].filter((node) => node.getAttribute?.('ID') === id)
  const signatures = found.flatMap(({ childNodes }) => Array.from(childNodes).filter(isSignature))
  return found.length === 1 && signatures.length === 1 ? (signatures[0] ?? null) : null
}

function isSignature({ localName, namespaceURI }: XmlNode): boolean {
  return localName === 'Signature' && namespaceURI === signatureNamespace
}

/** An id by which a signature can name an element without another meaning. */
export function idOf(element: XmlElement): string {
  const id = element.attributes.find(({ namespace, name }) => namespace === '' && name === 'ID')?.value ?? ''
  if (/^[A-Za-z_][A-Za-z0-9._-]{0,255}$/.test(id)) return id
  throw shapeFault(`${element.name} has no id that is one`)
}

/** Throws where an id stands twice in a document: one would be signed, and the other read. */
export function checkIds(root: XmlElement): void {
  const seen = new Set<string>()
  const visit = ({ attributes, children }: XmlElement): void => {
    for (const { name, value } of attributes) {
      if (!/^id$/i.test(name)) continue
      if (seen.has(value)) throw shapeFault('An id is there twice')
      seen.add(value)
    }
    for (const child of children) if (typeof child !== 'string') visit(child)
  }
  visit(root)
}

/** Throws for a signature in any other form than the one of SAML: of the element that it stands in, and of all of it. */
function checkSignature(signature: XmlElement, id: string): void {
  readAttributes(signature, ['Id'])
  const parts = new Sequence(signature)
  checkSignedInfo(parts.need(signatureNamespace, 'SignedInfo'), id)
  const value = parts.need(signatureNamespace, 'SignatureValue')
  readAttributes(value, ['Id'])
  if (!isBase64(readText(value))) throw shapeFault('A signature is no base64')
  const keyInfo = parts.take(signatureNamespace, 'KeyInfo')
  if (keyInfo !== null) checkKeyInfo(keyInfo)
  parts.end()
}

function checkSignedInfo(signedInfo: XmlElement, id: string): void {
  readAttributes(signedInfo, ['Id'])
  const parts = new Sequence(signedInfo)
  checkCanonicalization(parts.need(signatureNamespace, 'CanonicalizationMethod'))
  const method = parts.need(signatureNamespace, 'SignatureMethod')
  new Sequence(method).end()
  requireAlgorithm(method, [rsaSha256, rsaSha512])
  const reference = parts.need(signatureNamespace, 'Reference')
  parts.end()
  if (readAttributes(reference, ['URI', 'Id']).URI !== `#${id}`) throw shapeFault('A signature is of another element')
  const inside = new Sequence(reference)
  checkTransforms(inside.need(signatureNamespace, 'Transforms'))
  const digest = inside.need(signatureNamespace, 'DigestMethod')
  new Sequence(digest).end()
  requireAlgorithm(digest, [sha256Digest, sha512Digest])
  if (!isBase64(readText(inside.need(signatureNamespace, 'DigestValue')))) throw shapeFault('A digest is no base64')
  inside.end()
}

function checkTransforms(transforms: XmlElement): void {
  const parts = new Sequence(transforms)
  const first = parts.need(signatureNamespace, 'Transform')
  requireAlgorithm(first, [enveloped])
  new Sequence(first).end()
  const second = parts.take(signatureNamespace, 'Transform')
  if (second === null) throw new SsoFault('saml-algorithm')
  checkCanonicalization(second)
  if (parts.take(signatureNamespace, 'Transform') !== null) throw new SsoFault('saml-algorithm')
  parts.end()
}

function checkCanonicalization(element: XmlElement): void {
  requireAlgorithm(element, [canonicalization])
  const parts = new Sequence(element)
  const inclusive = parts.take(canonicalization, 'InclusiveNamespaces')
  if (inclusive !== null) {
    new Sequence(inclusive).end()
    const { PrefixList = '' } = readAttributes(inclusive, ['PrefixList'])
    if (!/^[\w.# -]{0,500}$/.test(PrefixList)) throw shapeFault('A list of prefixes is none')
  }
  parts.end()
}

export function requireAlgorithm(element: XmlElement, allowed: readonly string[]): string {
  const { Algorithm = '' } = readAttributes(element, ['Algorithm'])
  if (!allowed.includes(Algorithm)) throw new SsoFault('saml-algorithm')
  return Algorithm
}

/** Whose key it is decides the connection; what a message says of that is not read, and has nothing hidden in it. */
function checkKeyInfo({ namespace, attributes, children }: XmlElement): void {
  if (namespace !== signatureNamespace) throw shapeFault('KeyInfo has something foreign in it')
  if (attributes.some(({ name }) => name !== 'Id')) throw shapeFault('KeyInfo has attributes')
  for (const child of children) if (typeof child !== 'string') checkKeyInfo(child)
}

/** Base64 as it stands in XML: its own letters, in lines or not, and nothing that another reader would pass over. */
export function isBase64(text: string): boolean {
  const plain = text.replaceAll(/[ \t\r\n]/g, '')
  return plain.length > 0 && plain.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(plain)
}
