import { encryptTrees, ds, exclusive, signTree, type Signing } from './sign-tree.ts'
import { evilOf, withoutSignature, type Forgery, type Forging } from './forgery.ts'
import { shapes, type SamlLie } from './saml-provider.ts'
import { all, find, isTree, parentOf, remove, replace, xml, type XmlTree } from './xml-tree.ts'

const own = ['assertion'] as const
const whole = ['response'] as const

const wrapped = (name: string, afterwards: (root: XmlTree, forging: Forging) => XmlTree | void): Forgery => ({
  name,
  code: 'saml-shape',
  shapes: own,
  lie: (forging) => ({ afterwards: (root) => afterwards(root, forging) }),
})

/** Puts an element before another. */
function before(root: XmlTree, mark: XmlTree, added: XmlTree): void {
  const { children } = parentOf(root, mark)
  children.splice(children.indexOf(mark), 0, added)
}

/** An evil response with the signature of a true one, which is put somewhere else. */
function wrapResponse(root: XmlTree, hide: (evil: XmlTree, signature: XmlTree, original: XmlTree) => void): XmlTree {
  const original = withoutSignature(root)
  const evil = structuredClone(root)
  evil.attributes['ID'] = '_evil'
  find(evil, 'NameID').children = ['the-owner']
  hide(evil, find(evil, 'Signature'), original)
  return evil
}

const wrapping: readonly Forgery[] = [
  {
    ...wrapped('1 XSW1: the signed response in the signature of an evil one', (root) =>
      wrapResponse(root, (_evil, signature, original) => signature.children.push(xml('ds:Object', {}, original))),
    ),
    shapes: whole,
  },
  {
    ...wrapped('2 XSW2: the signed response before the signature of an evil one', (root) =>
      wrapResponse(root, (evil, signature, original) => before(evil, signature, original)),
    ),
    shapes: whole,
  },
  wrapped('3 XSW3: an evil assertion before the signed one', (root) => {
    const assertion = find(root, 'Assertion')
    before(root, assertion, evilOf(assertion))
  }),
  {
    ...wrapped('4 XSW4: the signed assertion in an evil one', (root) => {
      const assertion = find(root, 'Assertion')
      const evil = evilOf(assertion)
      replace(root, assertion, evil)
      evil.children.push(assertion)
    }),
    code: 'saml-unsigned',
  },
  wrapped('5 XSW5: the signature in an evil assertion, and the signed one after it', (root) => {
    const assertion = find(root, 'Assertion')
    const evil = evilOf(assertion)
    evil.children.splice(1, 0, find(assertion, 'Signature'))
    replace(root, assertion, evil)
    root.children.push(withoutSignature(assertion))
  }),
  wrapped('6 XSW6: the signed assertion in the signature of an evil one', (root) => {
    const assertion = find(root, 'Assertion')
    const signature = find(assertion, 'Signature')
    const evil = evilOf(assertion)
    evil.children.splice(1, 0, { ...signature, children: [...signature.children, withoutSignature(assertion)] })
    replace(root, assertion, evil)
  }),
  wrapped('7 XSW7: an evil assertion in the extensions', (root) => {
    root.children.splice(1, 0, xml('samlp:Extensions', {}, evilOf(find(root, 'Assertion'))))
  }),
  wrapped('8 XSW8: the signed assertion in an object of the signature of an evil one', (root) => {
    const assertion = find(root, 'Assertion')
    const signature = find(assertion, 'Signature')
    const evil = evilOf(assertion)
    const object = xml('ds:Object', {}, withoutSignature(assertion))
    evil.children.splice(1, 0, { ...signature, children: [...signature.children, object] })
    replace(root, assertion, evil)
  }),
  wrapped('9 two elements with one id', (root) => {
    const assertion = find(root, 'Assertion')
    root.children.push(evilOf(assertion, assertion.attributes['ID']))
  }),
  wrapped('9 an id that another attribute has too', (root) => {
    const assertion = find(root, 'Assertion')
    find(root, 'Status').attributes['Id'] = assertion.attributes['ID'] ?? ''
  }),
  wrapped('10 the signed assertion under StatusDetail, and an evil one in its place (CVE-2024-45409)', (root) => {
    const assertion = find(root, 'Assertion')
    replace(root, assertion, evilOf(assertion))
    find(root, 'Status').children.push(xml('samlp:StatusDetail', {}, assertion))
  }),
  {
    ...wrapped('11 an evil assertion in a response whose signature is of an error', (root) => {
      const decoy = find(structuredClone(root), 'Signature')
      const assertion = find(root, 'Assertion')
      replace(root, assertion, evilOf(assertion))
      root.children.push(xml('samlp:Extensions', {}, decoy))
      remove(root, 'Signature')
    }),
    shapes: whole,
  },
  wrapped('12 two signatures in one element', (root, { provider }) => {
    const assertion = find(root, 'Assertion')
    signTree(root, assertion, { key: provider.key })
  }),
  wrapped('13 two SignedInfo (CVE-2025-29775)', (root) => {
    const signature = find(root, 'Signature')
    signature.children.unshift(structuredClone(find(signature, 'SignedInfo')))
  }),
]

const unsigned: readonly Forgery[] = [
  {
    name: '14 a comment in the digest (CVE-2025-29774)',
    code: 'saml-xml',
    shapes,
    lie: () => ({
      signing: {
        after: (signature) => {
          const digest = find(signature, 'DigestValue')
          digest.children.unshift({ comment: 'AAAA' })
        },
      },
    }),
  },
  { name: '15 unsigned', code: 'saml-unsigned', shapes: own, lie: () => ({ shape: 'none' }) },
  {
    name: '16 an emptied signature',
    code: 'saml-shape',
    shapes,
    lie: () => ({ signing: { after: (signature) => void (find(signature, 'SignatureValue').children = []) } }),
  },
  {
    name: '17 the key of an attacker, which stands beside the signature',
    code: 'saml-signature',
    shapes,
    lie: ({ provider: { otherKey } }) => ({ signing: { key: otherKey, keyInfo: otherKey } }),
  },
  {
    name: '18 a text that was changed',
    code: 'saml-signature',
    shapes,
    lie: () => ({ afterwards: (root) => void (find(root, 'NameID').children = ['the-owner']) }),
  },
  {
    name: '18 an attribute that was changed',
    code: 'saml-signature',
    shapes,
    lie: () => ({ afterwards: (root) => void (find(root, 'AuthnStatement').attributes['SessionIndex'] = 'another') }),
  },
]

const agreed = (name: string, signing: (forging: Forging) => Partial<Signing>): Forgery => ({
  name,
  code: 'saml-algorithm',
  shapes,
  lie: (forging) => ({ signing: signing(forging) }),
})
const enc = 'http://www.w3.org/2001/04/xmlenc#'

const algorithms: readonly Forgery[] = [
  agreed('19 RSA with SHA-1', () => ({ method: `${ds}rsa-sha1`, hash: 'sha1' })),
  agreed('20 a digest with SHA-1', () => ({ digestMethod: `${ds}sha1`, digest: 'sha1' })),
  agreed('21 HMAC with the certificate as its secret', ({ provider }) => ({
    method: `${ds}hmac-sha256`,
    key: { hmac: provider.key.certificate },
  })),
  agreed('22 canonical form with comments', () => ({ canonicalization: `${exclusive}WithComments` })),
  agreed('22 a transform with comments', () => ({
    transforms: [`${ds}enveloped-signature`, `${exclusive}WithComments`],
  })),
  agreed('23 inclusive canonical form', () => ({
    canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  })),
  agreed('24 no canonical form', () => ({ transforms: [`${ds}enveloped-signature`] })),
  agreed('25 an XSLT transform', () => ({
    transforms: [`${ds}enveloped-signature`, 'http://www.w3.org/TR/1999/REC-xslt-19991116'],
  })),
  agreed('25 an XPath transform', () => ({
    transforms: ['http://www.w3.org/TR/1999/REC-xpath-19991116', exclusive],
  })),
  agreed('26 a third transform', () => ({ transforms: [`${ds}enveloped-signature`, exclusive, exclusive] })),
  agreed('26 no enveloped signature', () => ({ transforms: [exclusive] })),
  agreed('26 a digest with MD5', () => ({
    digestMethod: 'http://www.w3.org/2001/04/xmldsig-more#md5',
    digest: 'md5',
  })),
  agreed('26 another name for the algorithm', () => ({ digestMethod: `${enc}SHA256` })),
]

const references: readonly Forgery[] = [
  {
    name: '27 two references',
    code: 'saml-shape',
    shapes,
    lie: () => ({
      signing: {
        before: (signature) =>
          void find(signature, 'SignedInfo').children.push(structuredClone(find(signature, 'Reference'))),
      },
    }),
  },
  { name: '28 a reference to everything', code: 'saml-shape', shapes, lie: () => ({ signing: { uri: '' } }) },
  {
    name: '28 a reference without #',
    code: 'saml-shape',
    shapes,
    lie: () => ({ signing: { uri: 'https://x.example/' } }),
  },
  { name: '29 a quote in a reference', code: 'saml-shape', shapes, lie: () => ({ signing: { uri: "#x' or '1'='1" } }) },
  {
    name: '29 a pointer in a reference',
    code: 'saml-shape',
    shapes,
    lie: () => ({ signing: { uri: "#xpointer(id('x'))" } }),
  },
  {
    name: '30 a signature of the statement alone',
    code: 'saml-shape',
    shapes: own,
    lie: ({ provider }) => partly(provider.key, 'AuthnStatement'),
  },
  {
    name: '30 a signature of the subject alone',
    code: 'saml-shape',
    shapes: own,
    lie: ({ provider }) => partly(provider.key, 'Subject'),
  },
  {
    name: '33 an evil assertion unsigned first and a signed one second (CVE-2026-25922)',
    code: 'saml-shape',
    shapes,
    lie: () => ({
      afterwards(root) {
        const assertion = find(root, 'Assertion')
        before(root, assertion, evilOf(assertion))
      },
    }),
  },
]

/** The signature covers a part, and stands in the assertion. */
function partly(key: Signing['key'], name: string): SamlLie {
  return {
    shape: 'none',
    afterwards(root) {
      const assertion = find(root, 'Assertion')
      const part = find(assertion, name)
      part.attributes['ID'] = '_part'
      const signature = signTree(root, part, { key })
      part.children = part.children.filter((child) => child !== signature)
      assertion.children.splice(1, 0, signature)
    },
  }
}

/** What is encrypted for the service, and how; `certificate` is filled in by whoever sends it. */
const encrypted: readonly Forgery[] = [
  {
    name: '35 encrypted, and unsigned inside and out',
    code: 'saml-unsigned',
    shapes: own,
    lie: () => ({ shape: 'none', encrypting: {} }),
  },
  {
    name: '36 a key that is encrypted by RSA 1.5',
    code: 'saml-algorithm',
    shapes,
    lie: () => ({ encrypting: { padding: 'pkcs1' } }),
  },
  { name: '37 3DES', code: 'saml-algorithm', shapes, lie: () => ({ encrypting: { cipher: 'des-ede3-cbc' } }) },
  {
    name: '38 CBC in a response that is not signed',
    code: 'saml-algorithm',
    shapes: own,
    lie: () => ({ encrypting: { cipher: 'aes-256-cbc' } }),
  },
  {
    name: '40 a flipped bit of what is encrypted',
    code: 'saml-decryption',
    shapes,
    lie: () => ({ encrypting: { damage: flip(40) } }),
  },
  {
    name: '40 a flipped bit of its tag',
    code: 'saml-decryption',
    shapes,
    lie: () => ({ encrypting: { damage: flip(-1) } }),
  },
  {
    name: '40 a tag that was cut',
    code: 'saml-decryption',
    shapes,
    lie: () => ({ encrypting: { damage: (data) => data.subarray(0, -12) } }),
  },
]

function flip(at: number) {
  return (data: Buffer) => {
    const place = at < 0 ? data.length + at : at
    data[place] = (data[place] ?? 0) ^ 1
    return data
  }
}

export const signatureForgeries = [...wrapping, ...unsigned, ...algorithms, ...references, ...encrypted]

/** Those that need the service’s own certificate where the whole is put together. */
export function encryptedPairs(certificate: string): readonly Forgery[] {
  return [
    {
      name: '34 an evil assertion encrypted first, and a signed one second (CVE-2026-2092)',
      code: 'saml-shape',
      shapes: own,
      lie: () => ({
        afterwards(root) {
          const assertion = find(root, 'Assertion')
          before(root, assertion, encryptTrees([declared(evilOf(assertion))], { certificate }))
        },
      }),
    },
    {
      name: '39 two assertions that are encrypted as one',
      code: 'saml-xml',
      shapes,
      lie: () => ({
        assertion(assertion) {
          assertion.attributes['xmlns:saml'] = 'urn:oasis:names:tc:SAML:2.0:assertion'
        },
        response(root) {
          for (const assertion of all(root, 'Assertion')) {
            replace(root, assertion, encryptTrees([declared(evilOf(assertion)), assertion], { certificate }))
          }
        },
      }),
    },
    {
      name: '39 something else that is encrypted',
      code: 'saml-shape',
      shapes: whole,
      lie: () => ({
        response(root) {
          const assertion = find(root, 'Assertion')
          const other = xml('saml:Advice', { 'xmlns:saml': 'urn:oasis:names:tc:SAML:2.0:assertion' }, assertion)
          replace(root, assertion, encryptTrees([other], { certificate }))
        },
      }),
    },
  ]
}

function declared(tree: XmlTree): XmlTree {
  if (!isTree(tree)) return tree
  return { ...tree, attributes: { ...tree.attributes, 'xmlns:saml': 'urn:oasis:names:tc:SAML:2.0:assertion' } }
}
