import type { XmlElement } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'
import { loadEncryptionLibrary } from './libraries.ts'
import {
  encryption11Namespace,
  encryptionNamespace,
  sha1Digest,
  sha256Digest,
  sha512Digest,
  signatureNamespace,
} from './names.ts'
import { readAttributes, readText, Sequence, shapeFault } from './shape.ts'
import { isBase64, requireAlgorithm } from './verify-signature.ts'

const keyAlgorithms = [`${encryptionNamespace}rsa-oaep-mgf1p`, `${encryption11Namespace}rsa-oaep`] as const
const sealedAlgorithms = [`${encryption11Namespace}aes128-gcm`, `${encryption11Namespace}aes256-gcm`] as const
/** Whoever can change what is encrypted so learns what it says, so somebody else has to vouch that nobody has. */
const openAlgorithms = [`${encryptionNamespace}aes128-cbc`, `${encryptionNamespace}aes256-cbc`] as const
const digests = [sha1Digest, sha256Digest, sha512Digest] as const
const masks = ['mgf1sha1', 'mgf1sha256', 'mgf1sha384', 'mgf1sha512'].map((name) => `${encryption11Namespace}${name}`)

type Encrypted = {
  readonly algorithm: string
  readonly data: string
  readonly key: EncryptedKey
}
type EncryptedKey = {
  readonly algorithm: string
  readonly digest: string | null
  readonly mask: string | null
  readonly value: string
}

export type Decrypting = {
  /** Private keys in PEM, one of which may open it. */
  readonly keys: readonly string[]
  /** Whether the message that has it is signed as a whole. */
  readonly isSigned: boolean
}

/** The text of an encrypted assertion. Whatever is wrong with the encryption gets one answer. */
export function decryptAssertion(element: XmlElement, { keys, isSigned }: Decrypting): string {
  const encrypted = readEncrypted(element, isSigned ? [...sealedAlgorithms, ...openAlgorithms] : sealedAlgorithms)
  const xml = write(encrypted)
  for (const key of keys) {
    const text = decryptBy(xml, key)
    if (text !== null) return text
  }
  throw new SsoFault('saml-decryption')
}

function decryptBy(xml: string, key: string): string | null {
  const { decrypt } = loadEncryptionLibrary()
  let text: string | null = null
  const options = { key, disallowDecryptionWithInsecureAlgorithm: false, warnInsecureAlgorithm: false }
  try {
    decrypt(xml, options, (error, decrypted) => {
      text = error === null && decrypted !== undefined ? decrypted : null
    })
  } catch {
    return null
  }
  return text
}

/** What is read here, and nothing else of the message, is what the library gets. */
function write({ algorithm, data, key }: Encrypted): string {
  const digest = key.digest === null ? '' : `<d:DigestMethod Algorithm="${key.digest}"/>`
  const mask = key.mask === null ? '' : `<f:MGF xmlns:f="${encryption11Namespace}" Algorithm="${key.mask}"/>`
  return (
    `<e:EncryptedData xmlns:e="${encryptionNamespace}" xmlns:d="${signatureNamespace}">` +
    `<e:EncryptionMethod Algorithm="${algorithm}"/><d:KeyInfo><e:EncryptedKey>` +
    `<e:EncryptionMethod Algorithm="${key.algorithm}">${digest}${mask}</e:EncryptionMethod>` +
    `<e:CipherData><e:CipherValue>${key.value}</e:CipherValue></e:CipherData></e:EncryptedKey></d:KeyInfo>` +
    `<e:CipherData><e:CipherValue>${data}</e:CipherValue></e:CipherData></e:EncryptedData>`
  )
}

function readEncrypted(element: XmlElement, algorithms: readonly string[]): Encrypted {
  readAttributes(element, [])
  const outside = new Sequence(element)
  const data = outside.need(encryptionNamespace, 'EncryptedData')
  const beside = outside.take(encryptionNamespace, 'EncryptedKey')
  outside.end()
  readAttributes(data, ['Id', 'Type', 'MimeType'])
  const parts = new Sequence(data)
  const method = parts.need(encryptionNamespace, 'EncryptionMethod')
  new Sequence(method).end()
  const algorithm = requireAlgorithm(method, algorithms)
  const info = parts.need(signatureNamespace, 'KeyInfo')
  const value = readCipher(parts.need(encryptionNamespace, 'CipherData'))
  parts.end()
  const key = readKey(findKey(info, beside))
  // A nonce, a tag and one character.
  if (Buffer.from(value, 'base64').length < 29) throw new SsoFault('saml-decryption')
  return { algorithm, data: value, key }
}

/** The key stands in the data, or beside it and is named there. */
function findKey(info: XmlElement, beside: XmlElement | null): XmlElement {
  const parts = new Sequence(info)
  const inside = parts.take(encryptionNamespace, 'EncryptedKey')
  const reference = parts.take(signatureNamespace, 'RetrievalMethod')
  parts.end()
  if (inside !== null && beside === null && reference === null) return inside
  if (inside !== null || beside === null) throw shapeFault('An assertion is encrypted for several keys')
  return beside
}

function readKey(element: XmlElement): EncryptedKey {
  readAttributes(element, ['Id', 'Recipient'])
  const parts = new Sequence(element)
  const method = parts.need(encryptionNamespace, 'EncryptionMethod')
  const algorithm = requireAlgorithm(method, keyAlgorithms)
  const inside = new Sequence(method)
  const digest = inside.take(signatureNamespace, 'DigestMethod')
  const mask = inside.take(encryption11Namespace, 'MGF')
  inside.end()
  parts.take(signatureNamespace, 'KeyInfo')
  const value = readCipher(parts.need(encryptionNamespace, 'CipherData'))
  const references = parts.take(encryptionNamespace, 'ReferenceList')
  if (references !== null) new Sequence(references).take(encryptionNamespace, 'DataReference')
  parts.end()
  return {
    algorithm,
    digest: digest === null ? null : requireAlgorithm(digest, digests),
    mask: mask === null ? null : requireAlgorithm(mask, masks),
    value,
  }
}

function readCipher(element: XmlElement): string {
  const parts = new Sequence(element)
  const text = readText(parts.need(encryptionNamespace, 'CipherValue'))
  parts.end()
  if (!isBase64(text)) throw shapeFault('What is encrypted is no base64')
  return text.replaceAll(/[ \t\r\n]/g, '')
}
