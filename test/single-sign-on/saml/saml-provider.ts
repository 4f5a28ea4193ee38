// A provider of SAML that tells the truth unless a test has it lie.

import { createVerify } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import type { CertifiedKey } from '../../../src/accounts/single-sign-on/saml/certified-key.ts'
import { encryptTrees, newKey, signTree, type Encrypting, type Signing } from './sign-tree.ts'
import { find, replace, write, xml, type XmlTree } from './xml-tree.ts'

export const samlp = 'urn:oasis:names:tc:SAML:2.0:protocol'
export const saml = 'urn:oasis:names:tc:SAML:2.0:assertion'
export const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'
export const providerId = 'https://idp.example.com/saml'
export const signInUrl = 'https://idp.example.com/sso'
export const signOutUrl = 'https://idp.example.com/slo'

/** Which parts of an answer are signed. */
export type Shape = 'assertion' | 'response' | 'both'
export const shapes: readonly Shape[] = ['assertion', 'response', 'both']

/** What a service has asked, read from the address that a browser was sent to. */
export type Question = {
  readonly id: string
  readonly acsUrl: string
  readonly entityId: string
  readonly isForced: boolean
  readonly message: string
}

/** How an answer differs from the true one. */
export type SamlLie = {
  readonly shape?: Shape | 'none'
  /** Changes the parts before they are signed. */
  readonly assertion?: (assertion: XmlTree, root: XmlTree) => void
  readonly response?: (root: XmlTree) => void
  readonly signing?: Partial<Signing>
  /** Which element’s signature that is about; all unless given. */
  readonly signs?: 'assertion' | 'response'
  readonly encrypting?: Omit<Encrypting, 'certificate'>
  /** Changes the whole after it was signed, as a tree, as a text, as base64. */
  readonly afterwards?: (root: XmlTree) => XmlTree | void
  readonly text?: (text: string) => string | Buffer
  readonly encoded?: (base64: string) => string
}

export type Person = { readonly nameId: string; readonly email: string; readonly groups?: readonly string[] }

export const instant = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`
const seconds = 1_000

export class SamlProvider {
  readonly key: CertifiedKey
  readonly otherKey: CertifiedKey
  readonly #nowMs: () => number
  #made = 0

  private constructor(keys: { key: CertifiedKey; otherKey: CertifiedKey }, nowMs: () => number) {
    this.key = keys.key
    this.otherKey = keys.otherKey
    this.#nowMs = nowMs
  }

  static async open(nowMs: () => number): Promise<SamlProvider> {
    return new SamlProvider({ key: await newKey('provider'), otherKey: await newKey('other') }, nowMs)
  }

  metadata(certificates: readonly string[] = [this.key.certificate], entityId = providerId): string {
    return describeProvider(entityId, certificates)
  }

  newId(): string {
    this.#made += 1
    return `_made${this.#made}x${this.#nowMs()}`
  }

  get nowMs(): number {
    return this.#nowMs()
  }

  /** The answer to a question, in base64. */
  respond(question: Question, person: Person, lie: SamlLie & { readonly certificate?: string } = {}): string {
    const root = this.build(question, person)
    lie.assertion?.(find(root, 'Assertion'), root)
    const { shape = 'assertion' } = lie
    const signing = (of: 'assertion' | 'response') => ({
      key: this.key,
      ...(lie.signs === undefined || lie.signs === of ? lie.signing : {}),
    })
    if (shape === 'assertion' || shape === 'both') signTree(root, find(root, 'Assertion'), signing('assertion'))
    if (lie.encrypting !== undefined) {
      const assertion = find(root, 'Assertion')
      Object.assign(assertion.attributes, { 'xmlns:saml': saml })
      replace(root, assertion, encryptTrees([assertion], { certificate: lie.certificate ?? '', ...lie.encrypting }))
    }
    lie.response?.(root)
    if (shape === 'response' || shape === 'both') signTree(root, root, signing('response'))
    const changed = lie.afterwards?.(root) ?? root
    const text = lie.text?.(write(changed)) ?? write(changed)
    const base64 = Buffer.from(text).toString('base64')
    return lie.encoded?.(base64) ?? base64
  }

  /** The true answer, unsigned. */
  build({ id, acsUrl, entityId }: Question, person: Person): XmlTree {
    const now = this.#nowMs()
    const head = { Version: '2.0', IssueInstant: instant(now) }
    return xml(
      'samlp:Response',
      {
        'xmlns:samlp': samlp,
        'xmlns:saml': saml,
        ID: this.newId(),
        ...head,
        Destination: acsUrl,
        InResponseTo: id,
      },
      xml('saml:Issuer', {}, providerId),
      xml('samlp:Status', {}, xml('samlp:StatusCode', { Value: 'urn:oasis:names:tc:SAML:2.0:status:Success' })),
      xml(
        'saml:Assertion',
        { ID: this.newId(), ...head },
        xml('saml:Issuer', {}, providerId),
        xml(
          'saml:Subject',
          {},
          xml('saml:NameID', { Format: persistent }, person.nameId),
          xml(
            'saml:SubjectConfirmation',
            { Method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer' },
            xml('saml:SubjectConfirmationData', {
              InResponseTo: id,
              Recipient: acsUrl,
              NotOnOrAfter: instant(now + 300 * seconds),
            }),
          ),
        ),
        xml(
          'saml:Conditions',
          { NotBefore: instant(now - 60 * seconds), NotOnOrAfter: instant(now + 300 * seconds) },
          xml('saml:AudienceRestriction', {}, xml('saml:Audience', {}, entityId)),
        ),
        xml(
          'saml:AuthnStatement',
          { AuthnInstant: instant(now), SessionIndex: `session-of-${person.nameId}` },
          xml('saml:AuthnContext', {}, xml('saml:AuthnContextClassRef', {}, passwordContext)),
        ),
        xml('saml:AttributeStatement', {}, ...attributesOf(person)),
      ),
    )
  }
}

export const passwordContext = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport'

export const attribute = (Name: string, ...values: readonly string[]) =>
  xml('saml:Attribute', { Name }, ...values.map((value) => xml('saml:AttributeValue', {}, value)))

function attributesOf({ email, groups }: Person): XmlTree[] {
  return [
    attribute('email', email),
    attribute('displayName', 'New Person'),
    ...(groups === undefined ? [] : [attribute('groups', ...groups)]),
  ]
}

export function describeProvider(entityId: string, certificates: readonly string[]): string {
  const redirect = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
  const key = (certificate: string) =>
    `<md:KeyDescriptor use="signing"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}` +
    `</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- Of the provider. -->\n` +
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"` +
    ` entityID="${entityId}"><md:IDPSSODescriptor protocolSupportEnumeration="${samlp}">` +
    `${certificates.map(key).join('')}<md:SingleLogoutService Binding="${redirect}" Location="${signOutUrl}"/>` +
    `<md:SingleSignOnService Binding="${redirect}" Location="${signInUrl}"/></md:IDPSSODescriptor></md:EntityDescriptor>`
  )
}

/** What stands in the address that a browser was sent to. Throws unless the service has signed it with this key. */
export function readQuestion(location: string, certificate: string): Question {
  const query = location.slice(location.indexOf('?') + 1)
  const [signed = '', signature = ''] = query.split('&Signature=')
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----`
  const value = decodeURIComponent(signature)
  if (!createVerify('sha256').update(signed).verify(pem, value, 'base64')) throw new Error('It is not signed.')
  const packed = new URLSearchParams(query).get('SAMLRequest') ?? ''
  const message = inflateRawSync(Buffer.from(packed, 'base64')).toString()
  const read = (pattern: RegExp) => pattern.exec(message)?.[1] ?? ''
  return {
    id: read(/ ID="([^"]+)"/),
    acsUrl: read(/AssertionConsumerServiceURL="([^"]+)"/).replaceAll('&#47;', '/'),
    entityId: read(/<saml:Issuer>([^<]+)</),
    isForced: message.includes('ForceAuthn="true"'),
    message,
  }
}
