import { inAssertion, inResponse, set, type Forgery } from './forgery.ts'
import { attribute, instant, persistent } from './saml-provider.ts'
import { find, parentOf, remove, xml, type Piece, type XmlTree } from './xml-tree.ts'

const nameId = (name: string, code: Forgery['code'], ...children: Piece[]) =>
  inAssertion(name, code, (assertion) => void (find(assertion, 'NameID').children = children))
const dropping = (name: string, code: Forgery['code'], element: string) =>
  inAssertion(name, code, (assertion) => remove(assertion, element))
const statement = (name: string, code: Forgery['code'], ...added: Piece[]) =>
  inAssertion(name, code, (assertion) => void find(assertion, 'AttributeStatement').children.push(...added))

const identity: readonly Forgery[] = [
  nameId('41 a comment in the name', 'saml-xml', 'the-owner', { comment: '' }, '.evil.example'),
  nameId('42 an instruction in the name', 'saml-xml', 'the-owner', { raw: '<?x y?>' }, '.evil.example'),
  nameId('43 a section in the name', 'saml-xml', 'the-', { cdata: 'owner' }),
  nameId('44 an element in the name', 'saml-shape', 'the-owner', xml('saml:X'), '.evil.example'),
  nameId('45 white space around the name', 'saml-name-id', ' the-owner\n'),
  nameId('46 an empty name', 'saml-name-id'),
  nameId('47 a character without width in the name', 'saml-name-id', 'the-owner\u200b'),
  nameId('47 a character that turns the direction', 'saml-name-id', 'the\u202eowner'),
  nameId('47 a control character', 'saml-name-id', 'the-owner\u009f'),
  // The library takes it for the end of a line, and so it is not what was signed.
  nameId('47 an end of a line that is none', 'saml-signature', 'the-owner\u0085'),
  inAssertion('48 two names', 'saml-name-id', (assertion) => {
    find(assertion, 'Subject').children.unshift(xml('saml:NameID', { Format: persistent }, 'the-owner'))
  }),
  dropping('49 no subject', 'saml-name-id', 'Subject'),
  dropping('50 no name', 'saml-name-id', 'NameID'),
  inAssertion('51 an attribute in the place of the name', 'saml-name-id', (assertion) => {
    remove(assertion, 'NameID')
    find(assertion, 'AttributeStatement').children.push(attribute('nameID', 'the-owner'))
  }),
  statement('52 an attribute twice', 'saml-attribute', attribute('email', 'owner@acme.example')),
  inAssertion('52 an attribute in two statements', 'saml-attribute', (assertion) => {
    assertion.children.push(xml('saml:AttributeStatement', {}, attribute('email', 'owner@acme.example')))
  }),
  statement('53 an attribute __proto__', 'saml-attribute', attribute('__proto__', 'x')),
  statement('53 an attribute constructor', 'saml-attribute', attribute('constructor', 'x')),
  inAssertion('54 an encrypted name', 'saml-name-id', (assertion) => {
    find(assertion, 'NameID').tag = 'saml:EncryptedID'
  }),
  inAssertion('55 a passing name where a lasting one is agreed', 'saml-name-id', (assertion) => {
    set(find(assertion, 'NameID'), 'Format', 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient')
  }),
  inAssertion('55 a name without a format', 'saml-name-id', (assertion) =>
    set(find(assertion, 'NameID'), 'Format', null),
  ),
  nameId('56 a name of 257 characters', 'saml-name-id', 'n'.repeat(257)),
  inAssertion('57 a name of another provider', 'saml-name-id', (assertion) => {
    set(find(assertion, 'NameID'), 'NameQualifier', 'https://other.example')
  }),
  inAssertion('57 a name for another service', 'saml-name-id', (assertion) => {
    set(find(assertion, 'NameID'), 'SPNameQualifier', 'https://other.example')
  }),
  inAssertion('58 an address of a domain that is nobody’s', 'domain-unverified', (assertion) =>
    setEmail(assertion, 'owner@evil.example'),
  ),
  inAssertion('58 an address with a letter that looks like another', 'email-missing', (assertion) =>
    setEmail(assertion, 'owner@\u0430cme.example'),
  ),
  inAssertion('59 two addresses', 'saml-attribute', (assertion) => {
    const [value] = find(assertion, 'AttributeStatement').children as XmlTree[]
    value?.children.push(xml('saml:AttributeValue', {}, 'owner@acme.example'))
  }),
  statement('59 another address under another name', 'saml-attribute', attribute('mail', 'owner@acme.example')),
  statement(
    '59 an element in a value',
    'saml-attribute',
    xml('saml:Attribute', { Name: 'x' }, xml('saml:AttributeValue', {}, xml('saml:X'))),
  ),
  statement(
    '59 a value with something foreign about it',
    'saml-attribute',
    xml('saml:Attribute', { Name: 'x' }, xml('saml:AttributeValue', { 'xmlns:f': 'urn:f', 'f:a': '1' }, 'v')),
  ),
  statement(
    '59 more values than are taken',
    'saml-attribute',
    attribute('many', ...Array.from({ length: 2_001 }, String)),
  ),
  statement('59 an attribute without a name', 'saml-attribute', attribute('', 'x')),
  statement('59 an attribute with too long a name', 'saml-attribute', attribute('n'.repeat(501), 'x')),
  inAssertion('59 a session with a name of nothing', 'saml-shape', (assertion) => {
    set(find(assertion, 'AuthnStatement'), 'SessionIndex', '')
  }),
  statement('59 an encrypted attribute', 'saml-shape', xml('saml:EncryptedAttribute')),
]

function setEmail(assertion: XmlTree, email: string): void {
  const [value] = find(assertion, 'AttributeStatement').children as XmlTree[]
  if (value !== undefined) value.children = [xml('saml:AttributeValue', {}, email)]
}

const data = (name: string, code: Forgery['code'], change: (data: XmlTree, nowMs: number) => void) =>
  inAssertion(name, code, (assertion, { provider }) =>
    change(find(assertion, 'SubjectConfirmationData'), provider.nowMs),
  )
const method = (name: string, value: string) =>
  inAssertion(name, 'saml-confirmation', (assertion) => set(find(assertion, 'SubjectConfirmation'), 'Method', value))
const audience = (name: string, change: (text: string) => string) =>
  inAssertion(name, 'saml-addressee', (assertion, { question }) => {
    find(assertion, 'Audience').children = [change(question.entityId)]
  })

const addressee: readonly Forgery[] = [
  dropping('61 no confirmation', 'saml-confirmation', 'SubjectConfirmation'),
  dropping('62 no data of the confirmation', 'saml-confirmation', 'SubjectConfirmationData'),
  method('63 a holder of a key', 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key'),
  method('64 a sender who vouches', 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches'),
  inAssertion('64 two confirmations', 'saml-shape', (assertion) => {
    const confirmation = find(assertion, 'SubjectConfirmation')
    parentOf(assertion, confirmation).children.push(structuredClone(confirmation))
  }),
  data('65 a recipient elsewhere', 'saml-addressee', (one) => set(one, 'Recipient', 'https://other.example/acs')),
  data('66 no recipient', 'saml-addressee', (one) => set(one, 'Recipient', null)),
  data('67 a recipient of another connection here', 'saml-addressee', (one) =>
    set(one, 'Recipient', 'https://ai.example.com/sso/conn_other/acs'),
  ),
  inResponse('68 another destination', 'saml-addressee', (root) =>
    set(root, 'Destination', 'https://other.example/acs'),
  ),
  {
    ...inResponse('69 no destination of a signed response', 'saml-addressee', (root) => set(root, 'Destination', null)),
    shapes: ['response', 'both'],
  },
  inAssertion('70 an assertion of another provider', 'saml-issuer', (assertion) => {
    find(assertion, 'Issuer').children = ['https://other.example']
  }),
  inResponse('71 a response of another provider', 'saml-issuer', (root) => {
    find(root, 'Issuer').children = ['https://other.example']
  }),
  inResponse('72 an empty provider', 'saml-issuer', (root) => void (find(root, 'Issuer').children = [])),
  inAssertion('72 an empty provider of the assertion', 'saml-issuer', (assertion) => {
    find(assertion, 'Issuer').children = []
  }),
  inAssertion('72 a provider that is no entity', 'saml-issuer', (assertion) => {
    set(find(assertion, 'Issuer'), 'Format', persistent)
  }),
  audience('73 another audience', () => 'https://other.example'),
  audience('74 an audience that begins like ours', (own) => `${own}.evil.example`),
  audience('74 an audience with a slash more', (own) => `${own}/`),
  dropping('75 no restriction', 'saml-addressee', 'AudienceRestriction'),
  inAssertion('76 two restrictions, one of them elsewhere', 'saml-addressee', (assertion) => {
    const other = xml('saml:AudienceRestriction', {}, xml('saml:Audience', {}, 'https://other.example'))
    find(assertion, 'Conditions').children.push(other)
  }),
  inAssertion('76 a restriction to nobody', 'saml-addressee', (assertion) => {
    find(assertion, 'AudienceRestriction').children = []
  }),
  dropping('77 no conditions', 'saml-addressee', 'Conditions'),
  inAssertion('78 an unknown condition', 'saml-shape', (assertion) => {
    find(assertion, 'Conditions').children.push(xml('saml:Condition'))
  }),
]

const minute = 60_000
const conditions = (name: string, attributeName: string, offsetMs: number) =>
  inAssertion(name, 'saml-time', (assertion, { provider }) =>
    set(find(assertion, 'Conditions'), attributeName, instant(provider.nowMs + offsetMs)),
  )
const issued = (name: string, offsetMs: number) =>
  inAssertion(name, 'saml-time', (assertion, { provider }) =>
    set(assertion, 'IssueInstant', instant(provider.nowMs + offsetMs)),
  )
const dated = (name: string, text: string) =>
  inAssertion(name, 'saml-time', (assertion) => set(find(assertion, 'AuthnStatement'), 'AuthnInstant', text))

const times: readonly Forgery[] = [
  conditions('82 expired', 'NotOnOrAfter', -2 * minute),
  conditions('83 not valid yet', 'NotBefore', 2 * minute),
  data('84 the confirmation expired', 'saml-time', (one, now) => set(one, 'NotOnOrAfter', instant(now - 2 * minute))),
  data('85 no end of the confirmation', 'saml-time', (one) => set(one, 'NotOnOrAfter', null)),
  data('86 good for ten years', 'saml-time', (one, now) =>
    set(one, 'NotOnOrAfter', instant(now + 3_650 * 1_440 * minute)),
  ),
  conditions('86 conditions for ten years', 'NotOnOrAfter', 3_650 * 1_440 * minute),
  data('87 a beginning of the confirmation', 'saml-confirmation', (one, now) =>
    set(one, 'NotBefore', instant(now - minute)),
  ),
  issued('88 made a day ago', -1_440 * minute),
  issued('88 made eleven minutes ago', -11 * minute - 1_000),
  issued('89 made in the future', 2 * minute),
  inResponse('88 a response of a day ago', 'saml-time', (root, { provider }) =>
    set(root, 'IssueInstant', instant(provider.nowMs - 1_440 * minute)),
  ),
  inAssertion('90 a session that is over', 'saml-time', (assertion, { provider }) =>
    set(find(assertion, 'AuthnStatement'), 'SessionNotOnOrAfter', instant(provider.nowMs - 2 * minute)),
  ),
  dropping('92 no statement of how they signed in', 'saml-shape', 'AuthnStatement'),
  inAssertion('92 two of them', 'saml-shape', (assertion) => {
    assertion.children.push(structuredClone(find(assertion, 'AuthnStatement')))
  }),
  dated('93 tomorrow', 'tomorrow'),
  dated('93 another place on earth', '2026-11-01T00:00:00+14:00'),
  dated('93 no place on earth', '2026-11-01T00:00:00'),
  dated('93 a second that is none', '2026-06-30T23:59:60Z'),
  dated('93 a day that is none', '2026-02-30T00:00:00Z'),
  dated('93 the year 10000', '10000-01-01T00:00:00Z'),
  dated('93 a sign', '+2026-11-01T00:00:00Z'),
  inAssertion('94 version 1.1 of the assertion', 'saml-shape', (assertion) => set(assertion, 'Version', '1.1')),
  inResponse('94 version 1.1 of the response', 'saml-shape', (root) => set(root, 'Version', '1.1')),
  conditions('95 a second beyond the skew, over', 'NotOnOrAfter', -61_000),
  conditions('95 a second beyond the skew, to come', 'NotBefore', 61_000),
  issued('95 a second beyond the skew, made', 61_000),
]

const requests: readonly Forgery[] = [
  {
    ...inResponse('96 nobody has asked', 'saml-unsolicited', (root) => {
      set(root, 'InResponseTo', null)
      set(find(root, 'SubjectConfirmationData'), 'InResponseTo', null)
    }),
  },
  inResponse('97 an unknown request', 'no-flow', (root) => {
    set(root, 'InResponseTo', `_${'x'.repeat(43)}`)
    set(find(root, 'SubjectConfirmationData'), 'InResponseTo', `_${'x'.repeat(43)}`)
  }),
  inResponse('98 a laundered assertion that nobody has asked for', 'saml-request', (root) =>
    set(find(root, 'SubjectConfirmationData'), 'InResponseTo', null),
  ),
  data('103 another request inside', 'saml-request', (one) => set(one, 'InResponseTo', `_${'x'.repeat(43)}`)),
  inResponse('104 no request outside', 'saml-request', (root) => set(root, 'InResponseTo', null)),
  inResponse('109 an error with a good assertion', 'provider-refused', (root) =>
    set(find(root, 'StatusCode'), 'Value', 'urn:oasis:names:tc:SAML:2.0:status:Responder'),
  ),
  inResponse('110 an unknown status', 'provider-refused', (root) => set(find(root, 'StatusCode'), 'Value', 'urn:x')),
  inResponse('110 a success with an error in it', 'saml-shape', (root) => {
    find(root, 'StatusCode').children.push(
      xml('samlp:StatusCode', { Value: 'urn:oasis:names:tc:SAML:2.0:status:AuthnFailed' }),
    )
  }),
  inResponse('110 no status', 'saml-shape', (root) => remove(root, 'Status')),
]

export const contentForgeries = [...identity, ...addressee, ...times, ...requests]
