// The forms in which providers answer, as far as they are known from their own documents.

import { instant, providerId, type SamlLie } from './saml-provider.ts'
import { ds } from './sign-tree.ts'
import { all, find, rename, xml, type Piece, type XmlTree } from './xml-tree.ts'

const xs = 'http://www.w3.org/2001/XMLSchema'
const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
const saml2 = 'urn:oasis:names:tc:SAML:2.0:assertion'

const split = (piece: Piece) => (typeof piece === 'string' ? piece.replaceAll(/.{76}/g, '$&\n') : piece)

/** Base64 in lines. */
const inLines = (tree: XmlTree) => {
  for (const name of ['SignatureValue', 'DigestValue', 'X509Certificate']) {
    for (const one of all(tree, name)) one.children = one.children.map(split)
  }
}

const typed = (root: XmlTree) => {
  for (const value of all(root, 'AttributeValue')) Object.assign(value.attributes, { 'xsi:type': 'xs:string' })
}

const namespaceFree = (signature: XmlTree) => rename(signature, { ds: '' })

export const benignForms: Readonly<Record<string, SamlLie>> = {
  'Keycloak: both signed, with the key beside them': { shape: 'both', signing: { before: withKeyName } },
  'Okta: prefixes of its own, types, and an inclusive list': {
    shape: 'both',
    assertion(_assertion, root) {
      rename(root, { saml: 'saml2', samlp: 'saml2p' })
      Object.assign(root.attributes, { 'xmlns:xs': xs, 'xmlns:xsi': xsi })
      typed(root)
    },
    signing: { inclusive: ['xs'] },
    text: (text) => `<?xml version="1.0" encoding="UTF-8"?>${text}`,
  },
  'Microsoft Entra: no prefixes, and attributes before the statement': {
    assertion(assertion) {
      rename(assertion, { saml: '' })
      assertion.attributes['xmlns'] = saml2
      const statement = find(assertion, 'AuthnStatement')
      assertion.children = [...assertion.children.filter((child) => child !== statement), statement]
    },
    signing: { before: namespaceFree },
  },
  'AD FS: an origin of each attribute': {
    assertion(assertion) {
      for (const one of all(assertion, 'Attribute')) {
        Object.assign(one.attributes, { 'xmlns:a': 'http://schemas.xmlsoap.org/ws/2009/09/identity/claims' })
        one.attributes['a:OriginalIssuer'] = providerId
      }
    },
  },
  'Shibboleth: lines, types, a qualifier and one use': {
    shape: 'response',
    assertion(assertion, root) {
      Object.assign(root.attributes, { 'xmlns:xs': xs, 'xmlns:xsi': xsi })
      typed(root)
      const name = find(assertion, 'NameID')
      name.attributes['NameQualifier'] = providerId
      find(assertion, 'Conditions').children.push(xml('saml:OneTimeUse'))
      const locality = xml('saml:SubjectLocality', { Address: '192.0.2.1' })
      find(assertion, 'AuthnStatement').children.unshift(locality)
      find(assertion, 'SubjectConfirmationData').attributes['Address'] = '192.0.2.1'
    },
    signing: { after: inLines },
    encoded: (base64) => base64.replaceAll(/.{76}/g, '$&\r\n'),
  },
  'pysaml2: generated prefixes, and signatures with ids': {
    shape: 'both',
    assertion: (_assertion, root) => rename(root, { saml: 'ns1', samlp: 'ns0' }),
    signing: { idOfSignature: 'Signature1' },
    signs: 'response',
    text: (text) => `<?xml version='1.0' encoding='UTF-8'?>\n${text}`,
  },
  'Google: white space between elements': {
    shape: 'response',
    assertion(_assertion, root) {
      const indent = (tree: XmlTree) => {
        const inside = tree.children.filter((child) => typeof child !== 'string')
        if (inside.length === 0) return
        tree.children = inside.flatMap((child) => ['\n  ', child])
        for (const child of inside) if ('tag' in child) indent(child)
      }
      indent(root)
    },
  },
  'SHA-512': {
    signing: {
      method: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
      hash: 'sha512',
      digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha512',
      digest: 'sha512',
    },
  },
  'an unsigned response without an issuer and a destination': {
    response(root) {
      root.children.shift()
      delete root.attributes['Destination']
    },
  },
  'conditions that name the audience and no times': {
    assertion(assertion) {
      find(assertion, 'Conditions').attributes = {}
    },
  },
  'a fraction of a second, and a session that ends': {
    assertion(assertion) {
      const statement = find(assertion, 'AuthnStatement')
      const at = statement.attributes['AuthnInstant'] ?? ''
      statement.attributes['SessionNotOnOrAfter'] = instant(Date.parse(at) + 3_600_000)
      statement.attributes['AuthnInstant'] = at.replace('Z', '.123456789Z')
    },
  },
  'AES-CBC in a signed response': { shape: 'response', encrypting: { cipher: 'aes-256-cbc' } },
  'AES-128-GCM, with a key by OAEP of SHA-256': { encrypting: { cipher: 'aes-128-gcm', padding: 'oaep-sha256' } },
}

function withKeyName(signature: XmlTree): void {
  const value = xml(
    'ds:KeyValue',
    {},
    xml('ds:RSAKeyValue', {}, xml('ds:Modulus', {}, 'AQAB'), xml('ds:Exponent', {}, 'AQAB')),
  )
  signature.children.push(xml('ds:KeyInfo', { 'xmlns:ds': ds }, xml('ds:KeyName', {}, 'k1'), value))
}
