// Signatures and encryption as a provider makes them, with every part of them open to be made wrong.

import {
  constants,
  createCipheriv,
  createHash,
  createHmac,
  generateKeyPairSync,
  publicEncrypt,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import { createCertifiedKey, type CertifiedKey } from '../../../src/accounts/single-sign-on/saml/certified-key.ts'
import { canonicalize, isTree, write, xml, type XmlTree } from './xml-tree.ts'

export const ds = 'http://www.w3.org/2000/09/xmldsig#'
export const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const enveloped = `${ds}enveloped-signature`
const more = 'http://www.w3.org/2001/04/xmldsig-more#'
const enc = 'http://www.w3.org/2001/04/xmlenc#'
const enc11 = 'http://www.w3.org/2009/xmlenc11#'

const signedAtMs = Date.UTC(2026, 0, 1)
export const newKey = (name: string): Promise<CertifiedKey> =>
  createCertifiedKey({ name, nowMs: signedAtMs, lastsMs: 315_360_000_000 })

export type Signing = {
  readonly key: CertifiedKey | KeyObject | { readonly hmac: string }
  readonly method?: string
  readonly hash?: string
  readonly digestMethod?: string
  readonly digest?: string
  readonly canonicalization?: string
  readonly transforms?: readonly string[]
  readonly uri?: string
  /** Prefixes that are declared in the canonical form although nothing is called by them. */
  readonly inclusive?: readonly string[]
  readonly idOfSignature?: string
  readonly keyInfo?: CertifiedKey | null
  /** Changes the signature before its value is made, or after. */
  readonly before?: (signature: XmlTree) => void
  readonly after?: (signature: XmlTree) => void
}

const defaults = {
  method: `${more}rsa-sha256`,
  hash: 'sha256',
  digestMethod: `${enc}sha256`,
  digest: 'sha256',
  canonicalization: exclusive,
  transforms: [enveloped, exclusive],
} as const

/** Signs an element of a document: the signature becomes its second child, after its issuer. Returns the signature. */
export function signTree(root: XmlTree, element: XmlTree, signing: Signing): XmlTree {
  const chosen = { ...defaults, ...signing }
  const digest = createHash(chosen.digest)
    .update(canonicalize(root, element, chosen.inclusive))
    .digest('base64')
  const reference = xml(
    'ds:Reference',
    { URI: chosen.uri ?? `#${element.attributes['ID']}` },
    xml('ds:Transforms', {}, ...chosen.transforms.map((Algorithm) => transform(Algorithm, chosen.inclusive))),
    xml('ds:DigestMethod', { Algorithm: chosen.digestMethod }),
    xml('ds:DigestValue', {}, digest),
  )
  const signedInfo = xml(
    'ds:SignedInfo',
    {},
    xml('ds:CanonicalizationMethod', { Algorithm: chosen.canonicalization }),
    xml('ds:SignatureMethod', { Algorithm: chosen.method }),
    reference,
  )
  const value = xml('ds:SignatureValue')
  const signature = xml(
    'ds:Signature',
    { 'xmlns:ds': ds, ...(chosen.idOfSignature !== undefined && { Id: chosen.idOfSignature }) },
    signedInfo,
    value,
  )
  if (chosen.keyInfo !== null && chosen.keyInfo !== undefined) signature.children.push(keyInfoOf(chosen.keyInfo))
  element.children.splice(element.children.findIndex(isTree) + 1, 0, signature)
  chosen.before?.(signature)
  const info = signature.children.find(isTree) as XmlTree
  value.children = [makeValue(canonicalize(root, info), chosen)]
  chosen.after?.(signature)
  return signature
}

function transform(Algorithm: string, inclusive: readonly string[] = []): XmlTree {
  if (inclusive.length === 0 || Algorithm !== exclusive) return xml('ds:Transform', { Algorithm })
  const list = xml('ec:InclusiveNamespaces', { 'xmlns:ec': exclusive, PrefixList: inclusive.join(' ') })
  return xml('ds:Transform', { Algorithm }, list)
}

function makeValue(content: string, { key, hash }: { readonly key: Signing['key']; readonly hash: string }): string {
  if ('hmac' in key) return createHmac(hash, key.hmac).update(content).digest('base64')
  return sign(hash, Buffer.from(content), 'privateKey' in key ? key.privateKey : key).toString('base64')
}

const keyInfoOf = ({ certificate }: CertifiedKey) =>
  xml('ds:KeyInfo', {}, xml('ds:X509Data', {}, xml('ds:X509Certificate', {}, certificate)))

export type Encrypting = {
  /** The certificate of whoever is to read it, in base64. */
  readonly certificate: string
  readonly cipher?: 'aes-256-gcm' | 'aes-128-gcm' | 'aes-256-cbc' | 'des-ede3-cbc'
  readonly padding?: 'oaep' | 'oaep-sha256' | 'pkcs1'
  /** Changes what is encrypted. */
  readonly damage?: (data: Buffer) => Buffer
}

const cipherNames = {
  'aes-256-gcm': { uri: `${enc11}aes256-gcm`, keyBytes: 32, nonceBytes: 12 },
  'aes-128-gcm': { uri: `${enc11}aes128-gcm`, keyBytes: 16, nonceBytes: 12 },
  'aes-256-cbc': { uri: `${enc}aes256-cbc`, keyBytes: 32, nonceBytes: 16 },
  'des-ede3-cbc': { uri: `${enc}tripledes-cbc`, keyBytes: 24, nonceBytes: 8 },
} as const

/** An encrypted assertion with these elements in it. */
export function encryptTrees(trees: readonly XmlTree[], encrypting: Encrypting): XmlTree {
  const { certificate, cipher = 'aes-256-gcm', padding = 'oaep', damage = (data) => data } = encrypting
  const { uri, keyBytes, nonceBytes } = cipherNames[cipher]
  const [key, nonce] = [randomBytes(keyBytes), randomBytes(nonceBytes)]
  const encryptor = createCipheriv(cipher, key, nonce)
  const content = Buffer.concat([encryptor.update(trees.map(write).join('')), encryptor.final()])
  const tag = cipher.endsWith('gcm') ? (encryptor as unknown as { getAuthTag(): Buffer }).getAuthTag() : Buffer.alloc(0)
  const { publicKey } = new X509Certificate(Buffer.from(certificate, 'base64'))
  const method = { oaep: `${enc}rsa-oaep-mgf1p`, 'oaep-sha256': `${enc11}rsa-oaep`, pkcs1: `${enc}rsa-1_5` }[padding]
  const rsaPadding = padding === 'pkcs1' ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_OAEP_PADDING
  const oaepHash = padding === 'oaep-sha256' ? 'sha256' : 'sha1'
  const wrapped = publicEncrypt({ key: publicKey, padding: rsaPadding, oaepHash }, key)
  const facts =
    padding === 'oaep-sha256'
      ? [
          xml('ds:DigestMethod', { Algorithm: `${enc}sha256` }),
          xml('xenc11:MGF', { 'xmlns:xenc11': enc11, Algorithm: `${enc11}mgf1sha256` }),
        ]
      : []
  const encryptedKey = xml(
    'xenc:EncryptedKey',
    {},
    xml('xenc:EncryptionMethod', { Algorithm: method }, ...facts),
    xml('xenc:CipherData', {}, xml('xenc:CipherValue', {}, wrapped.toString('base64'))),
  )
  const data = damage(Buffer.concat([nonce, content, tag])).toString('base64')
  return xml(
    'saml:EncryptedAssertion',
    {},
    xml(
      'xenc:EncryptedData',
      { 'xmlns:xenc': enc, Type: `${enc}Element` },
      xml('xenc:EncryptionMethod', { Algorithm: uri }),
      xml('ds:KeyInfo', { 'xmlns:ds': ds }, encryptedKey),
      xml('xenc:CipherData', {}, xml('xenc:CipherValue', {}, data)),
    ),
  )
}

/** An RSA key of a size. */
export const weakKey = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey
