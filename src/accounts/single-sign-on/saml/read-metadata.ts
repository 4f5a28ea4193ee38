import { X509Certificate } from 'node:crypto'
import { decodeXml, scanXml, XmlFault, type XmlElement } from '../../../lib/xml/scan-xml.ts'
import { metadataNamespace, protocolNamespace, redirectBinding, signatureNamespace } from './messages/names.ts'
import { isNamed } from './messages/shape.ts'

/** What a provider’s description says. */
export type ProviderMetadata = {
  readonly entityId: string
  readonly signInUrl: string
  readonly signOutUrl: string | null
  /** In base64. */
  readonly certificates: readonly string[]
}

/** A description that cannot be used, with the path of the element at which that shows. */
export class MetadataFault extends Error {
  override readonly name = 'MetadataFault'

  constructor(path: string, message: string, options?: { readonly cause?: unknown }) {
    super(`${path}: ${message}`, options)
  }
}

/** That of Microsoft Entra has some 100 KiB, most of it about other protocols. */
export const metadataBytesMax = 1_048_576
export const certificatesMax = 4
const keyBitsMin = 2_048

/** Reads a description of a provider (SAML V2.0 Metadata). Other roles of the same service, and other protocols, are passed over. */
export function readMetadata(bytes: Uint8Array): ProviderMetadata {
  const root = scan(bytes)
  const entity = findEntity(root)
  const entityId = attributeOf(entity, 'entityID')
  if (entityId === '' || entityId.length > 1_024) throw new MetadataFault('EntityDescriptor', 'It has no entityID.')
  const roles = childrenOf(entity, metadataNamespace, 'IDPSSODescriptor').filter((role) => {
    return attributeOf(role, 'protocolSupportEnumeration').split(/\s+/).includes(protocolNamespace)
  })
  const [role, ...others] = roles
  const path = 'EntityDescriptor/IDPSSODescriptor'
  if (role === undefined) throw new MetadataFault(path, 'There is none for SAML 2.0: this is no identity provider.')
  if (others.length > 0) throw new MetadataFault(path, 'There are several.')
  const signInUrl = findLocation(role, 'SingleSignOnService')
  if (signInUrl === null) {
    throw new MetadataFault(`${path}/SingleSignOnService`, 'There is none with the HTTP-Redirect binding.')
  }
  const certificates = readCertificates(role, path)
  return { entityId, signInUrl, signOutUrl: findLocation(role, 'SingleLogoutService'), certificates }
}

function scan(bytes: Uint8Array): XmlElement {
  try {
    if (bytes.length > metadataBytesMax) throw new XmlFault('The document is too long.')
    return scanXml(decodeXml(bytes), { lengthMax: metadataBytesMax, elementsMax: 20_000, allowsComments: true })
  } catch (cause) {
    if (!(cause instanceof XmlFault)) throw cause
    throw new MetadataFault('/', cause.message, { cause })
  }
}

function findEntity(root: XmlElement): XmlElement {
  if (isNamed(root, metadataNamespace, 'EntityDescriptor')) return root
  if (!isNamed(root, metadataNamespace, 'EntitiesDescriptor')) {
    throw new MetadataFault('/', `It begins with ${root.name}, and not with EntityDescriptor.`)
  }
  const [entity, ...others] = childrenOf(root, metadataNamespace, 'EntityDescriptor')
  if (entity !== undefined && others.length === 0) return entity
  throw new MetadataFault(
    'EntitiesDescriptor',
    'There is not exactly one EntityDescriptor: hand over that of one provider.',
  )
}

function childrenOf({ children }: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  return children.filter((child) => typeof child !== 'string' && isNamed(child, namespace, name)) as XmlElement[]
}

function attributeOf({ attributes }: XmlElement, wanted: string): string {
  return attributes.find(({ namespace, name }) => namespace === '' && name === wanted)?.value ?? ''
}

function findLocation(role: XmlElement, name: string): string | null {
  const services = childrenOf(role, metadataNamespace, name)
  const service = services.find((one) => attributeOf(one, 'Binding') === redirectBinding)
  if (service === undefined) return null
  return checkLocation(attributeOf(service, 'Location'), `EntityDescriptor/IDPSSODescriptor/${name}/@Location`)
}

/** An address of the web that a browser can be sent to. */
export function checkLocation(location: string, path: string): string {
  const url = URL.canParse(location) ? new URL(location) : null
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === ''
  if (isWeb && location.length <= 2_000) return location
  throw new MetadataFault(path, 'This is no address that a browser can be sent to.')
}

function readCertificates(role: XmlElement, path: string): readonly string[] {
  const keys = childrenOf(role, metadataNamespace, 'KeyDescriptor').filter(
    (key) => attributeOf(key, 'use') !== 'encryption',
  )
  const found = keys.flatMap((key) =>
    childrenOf(key, signatureNamespace, 'KeyInfo').flatMap((info) =>
      childrenOf(info, signatureNamespace, 'X509Data').flatMap((data) =>
        // Of a chain, the first is that of the key itself.
        childrenOf(data, signatureNamespace, 'X509Certificate').slice(0, 1),
      ),
    ),
  )
  const texts = found.map(({ children }) => children.map((child) => (typeof child === 'string' ? child : '')).join(''))
  return checkCertificates(texts, `${path}/KeyDescriptor/KeyInfo/X509Data/X509Certificate`)
}

/** Certificates without what stands around them, each once. Throws for none, too many, and keys that are too weak. */
export function checkCertificates(texts: readonly string[], path: string): readonly string[] {
  const all = [...new Set(texts.map((text) => toBase64(text, path)))]
  if (all.length === 0) throw new MetadataFault(path, 'There is no certificate for signing.')
  if (all.length > certificatesMax)
    throw new MetadataFault(path, `There are more than ${certificatesMax} certificates.`)
  return all
}

function toBase64(text: string, path: string): string {
  const plain = text.replaceAll(/-----(?:BEGIN|END) CERTIFICATE-----|\s/g, '')
  const certificate = parseCertificate(plain, path)
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey
  if (asymmetricKeyType !== 'rsa' || (asymmetricKeyDetails?.modulusLength ?? 0) < keyBitsMin) {
    throw new MetadataFault(path, `The key is no RSA key of ${keyBitsMin} bits or more.`)
  }
  return certificate.raw.toString('base64')
}

function parseCertificate(base64: string, path: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'))
  } catch (cause) {
    throw new MetadataFault(path, 'This is no certificate.', { cause })
  }
}
