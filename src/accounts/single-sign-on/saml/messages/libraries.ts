// The libraries of XML Signature and XML Encryption, with types for as much of them as is used. Their own types bring
// those of a browser's page along, which nothing here is. Each is loaded when it is first needed, as few installations
// have a provider that speaks SAML.

import { createRequire } from 'node:module'

export type XmlNode = {
  readonly localName: string | null
  readonly namespaceURI: string | null
  readonly childNodes: ArrayLike<XmlNode>
  getAttribute?(name: string): string | null
}

type Algorithms = Record<string, unknown>

export type SignedXml = {
  SignatureAlgorithms: Algorithms
  HashAlgorithms: Algorithms
  CanonicalizationAlgorithms: Algorithms
  loadSignature(node: XmlNode): void
  checkSignature(xml: string): boolean
  getSignedReferences(): readonly string[]
}

type SignatureLibrary = {
  readonly SignedXml: new (options: { publicCert: string; getCertFromKeyInfo: () => null }) => SignedXml
}

type ParserLibrary = {
  readonly DOMParser: new () => {
    parseFromString(text: string, type: 'text/xml'): { readonly documentElement: XmlNode }
  }
}

type DecryptOptions = {
  readonly key: string
  readonly disallowDecryptionWithInsecureAlgorithm: boolean
  readonly warnInsecureAlgorithm: boolean
}

type EncryptionLibrary = {
  decrypt(xml: string, options: DecryptOptions, done: (error: Error | null, text?: string) => void): void
}

const require = createRequire(import.meta.url)

export const loadSignatureLibrary = () => require('xml-crypto') as SignatureLibrary
export const loadParserLibrary = () => require('@xmldom/xmldom') as ParserLibrary
export const loadEncryptionLibrary = () => require('xml-encryption') as EncryptionLibrary
