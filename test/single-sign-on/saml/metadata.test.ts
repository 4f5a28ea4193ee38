// What is read of a provider's description and of what it says of somebody, in all the forms in which that comes.

import { deepEqual, equal, match, rejects, throws } from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { explainAnswer } from '../../../src/accounts/single-sign-on/saml/explain-answer.ts'
import { readRedirect, writeRedirect } from '../../../src/accounts/single-sign-on/saml/messages/redirect-binding.ts'
import { readMetadata } from '../../../src/accounts/single-sign-on/saml/read-metadata.ts'
import { updateSamlConnection } from '../../../src/accounts/single-sign-on/saml/saml-connections.ts'
import { toClaims } from '../../../src/accounts/single-sign-on/saml/to-claims.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { createTestSso, testSignIn } from '../../harness/management.ts'
import { providerKey } from '../../http/api/sso-things.ts'
import { openSaml, type Saml } from './open-saml.ts'
import { describeProvider, providerId, signInUrl, signOutUrl } from './saml-provider.ts'
import { find, xml } from './xml-tree.ts'

const operator = { kind: 'operator' } as const
const { certificate, privateKey } = providerKey

let saml: Saml
before(async () => {
  saml = await openSaml(await openMemoryDatabase())
})
after(() => saml.close())
const parts = () => {
  const { accounts } = saml.service
  return { ...accounts, signIn: testSignIn, sso: createTestSso(accounts) }
}

describe('a description', () => {
  const good = describeProvider(providerId, [certificate])
  const role = /<md:IDPSSODescriptor[^]*<\/md:IDPSSODescriptor>/.exec(good)?.[0] ?? ''
  const entity = /<md:EntityDescriptor[^]*<\/md:EntityDescriptor>/.exec(good)?.[0] ?? ''
  const several = (count: number) =>
    `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${entity.repeat(count)}</md:EntitiesDescriptor>`
  const read = (text: string) => readMetadata(Buffer.from(text))

  test('may stand alone in a list', () => {
    deepEqual(read(several(1)), read(good))
    equal(read(good).entityId, providerId)
  })

  for (const [what, text, message] of [
    ['in a list of several', several(2), /EntitiesDescriptor: There is not exactly one/],
    ['in an empty list', several(0), /EntitiesDescriptor: There is not exactly one/],
    ['with two roles of one kind', good.replace(role, role + role), /IDPSSODescriptor: There are several/],
    ['without a name', good.replace(/ entityID="[^"]*"/, ''), /no entityID/],
    ['with too long a name', good.replace(providerId, 'x'.repeat(1_025)), /no entityID/],
    ['of another protocol', good.replace('SAML:2.0:protocol', 'SAML:1.1:protocol'), /none for SAML 2\.0/],
    ['that is too long', good + ' '.repeat(1_048_577), /too long/],
    ['that begins otherwise', '<a/>', /begins with a, and not with EntityDescriptor/],
    ['with an address that is none', good.replace(`${signInUrl}"`, 'sso"'), /SingleSignOnService\/@Location/],
    ['with a user in an address', good.replace(signInUrl, 'https://a@idp.example.com/sso'), /@Location/],
    ['with a part of a page in an address', good.replace(signInUrl, `${signInUrl}#a`), /@Location/],
    ['with too long an address', good.replace(signInUrl, `${signInUrl}?${'a'.repeat(2_000)}`), /@Location/],
    ['with something within a certificate', good.replace(certificate, '<md:a/>'), /X509Certificate: This is no/],
  ] as const) {
    test(`is refused ${what}`, () => throws(() => read(text), message))
  }

  test('is handed over in its parts, with a place to sign out or without', async () => {
    const plain = { entityId: providerId, signInUrl, certificates: [certificate] }
    for (const out of [null, signOutUrl]) {
      const id = await saml.connect({ source: { ...plain, signOutUrl: out }, makesMembers: false })
      const row = await saml.service.db
        .selectFrom('saml_connections')
        .select('sign_out_url')
        .where('connection_id', '=', id)
        .executeTakeFirstOrThrow()
      equal(row.sign_out_url, out)
    }
    const bad = { ...plain, signOutUrl: 'ftp://idp.example.com/' }
    await rejects(saml.connect({ source: bad }), /signOutUrl/)
    await rejects(saml.connect({ source: { ...plain, signOutUrl: null, certificates: [] } }), /certificates/)
  })

  test('is not read where the server answers otherwise than with it', async () => {
    const server = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const metadataUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    await rejects(saml.connect({ source: { metadataUrl } }), /It answered 404/)
    server.close()
  })

  test('of the same provider takes the place of the one before, and the rest stays', async () => {
    const id = await saml.connect({ verifiesEmails: false, source: { metadata: good } })
    const reference = { id, organizationId: saml.company.organizationId }
    const moved = good.replace(signInUrl, 'https://idp.example.com/moved')
    await updateSamlConnection(parts(), operator, reference, { source: { metadata: moved } })
    const row = await saml.service.db
      .selectFrom('saml_connections')
      .selectAll()
      .where('connection_id', '=', id)
      .executeTakeFirstOrThrow()
    deepEqual([row.sign_in_url, row.verifies_emails], ['https://idp.example.com/moved', 0])
  })
})

describe('what an assertion says of somebody', () => {
  const connection = { groups_claim: 'groups' } as Parameters<typeof toClaims>[1]
  const row = { name_id_format: 'persistent', email_attribute: null, name_attribute: null, verifies_emails: 1 }
  const claims = (
    attributes: Readonly<Record<string, readonly string[]>>,
    changed: Partial<Record<keyof typeof row, string | number | null>> = {},
    session: string | null = null,
  ) => {
    const assertion = { nameId: { value: 'ann' }, attributes: new Map(Object.entries(attributes)) }
    const authentication = { atMs: 5_999, session }
    return toClaims({ ...assertion, authentication } as never, connection, { ...row, ...changed } as never)
  }

  test('is read by the usual names of attributes, or by those that were agreed', () => {
    const said = claims({ mail: ['a@acme.example'], cn: ['Ann'], groups: ['g'] }, {}, 's1')
    deepEqual(said, {
      groups: ['g'],
      sub: 'persistent ann',
      email: 'a@acme.example',
      email_verified: true,
      name: 'Ann',
      auth_time: 5,
      sid: 's1',
    })
    const own = { email_attribute: 'e', name_attribute: 'n', verifies_emails: 0 }
    const agreed = claims({ mail: ['x@acme.example'], e: ['b@acme.example'], n: ['Bo'] }, own)
    deepEqual([agreed.email, agreed['name'], agreed['email_verified']], ['b@acme.example', 'Bo', false])
    equal(claims({ mail: ['x@acme.example'] }, own).email, undefined)
  })

  test('has an address in its name only where that is agreed', () => {
    equal(claims({}).email, undefined)
    equal(claims({}, { name_id_format: 'email' }).email, 'ann')
  })

  test('has one address, in whatever capitals and however often', () => {
    equal(claims({ mail: ['a@acme.example'], email: ['A@acme.example'] }).email, 'A@acme.example')
    throws(() => claims({ mail: ['a@acme.example', 'b@acme.example'] }), { code: 'saml-attribute' })
  })

  test('says that groups are elsewhere', () => {
    const link = { 'http://schemas.microsoft.com/claims/groups.link': ['https://graph.example/'] }
    equal(claims(link)['hasgroups'], true)
    equal('hasgroups' in claims({}), false)
  })
})

test('an answer that is signed as a whole, or says little, is explained too', async () => {
  const id = await saml.connect()
  const begun = await saml.begin(id)
  const whole = saml.provider.respond(begun.question, saml.person(), { shape: 'response' })
  match((await explainAnswer(parts(), id, whole)).join('\n'), /Signed: the response\.[^]*none, as there is no groups/)
  const bare = saml.provider.respond(begun.question, saml.person(), {
    assertion: (assertion) => {
      const statement = find(assertion, 'AttributeStatement')
      assertion.children = assertion.children.filter((child) => child !== statement)
    },
  })
  const said = (await explainAnswer(parts(), id, bare)).join('\n')
  match(said, /E-mail address: none\. Name: none\.\nAttributes: none\.\nGroups: none/)
})

test('values that are nothing, typed, or names are taken, and moments with parts of a second', async () => {
  const id = await saml.connect()
  const begun = await saml.begin(id)
  const instance = { 'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance' }
  const value = (attributes: Record<string, string>, ...children: Parameters<typeof xml>[2][]) =>
    xml('saml:AttributeValue', { ...instance, ...attributes }, ...children)
  const groups = [value({ 'xsi:nil': 'true' }), value({ 'xsi:type': 'xs:string' }, 'engineers')]
  const answer = saml.provider.respond(begun.question, saml.person(), {
    assertion: (assertion) => {
      const held = xml('saml:NameID', {}, 'ann')
      const { children } = find(assertion, 'AttributeStatement')
      children.push(xml('saml:Attribute', { Name: 'groups' }, ...groups))
      children.push(xml('saml:Attribute', { Name: 'persistentId' }, value({}, held)))
      const { attributes } = find(assertion, 'AuthnStatement')
      attributes['AuthnInstant'] = String(attributes['AuthnInstant']).replace('Z', '.123Z')
    },
  })
  match((await explainAnswer(parts(), id, answer)).join('\n'), /persistentId[^]*Groups: engineers\./)
})

describe('a message in an address', () => {
  const message = '<a/>'
  const sent = { field: 'SAMLRequest', message, relayState: null, privateKey } as const
  const write = (fields: Partial<Parameters<typeof writeRedirect>[0]> = {}) =>
    writeRedirect({ location: 'https://sp.example/slo', ...sent, ...fields })
  const read = (address: string) =>
    readRedirect(address.slice(address.indexOf('?') + 1), { field: 'SAMLRequest', certificates: [certificate] })

  test('is read back with what goes along, wherever it is added', () => {
    deepEqual(read(write()), { message, relayState: null })
    deepEqual(read(write({ relayState: 'a b&c' })), { message, relayState: 'a b&c' })
    match(write({ location: 'https://sp.example/slo?of=acme' }), /\?of=acme&SAMLRequest=/)
  })

  const refuses = (address: string, code: string) => throws(() => read(address), { code })

  test('is refused when anything of it is missing, twice, foreign or no text', () => {
    const good = write()
    refuses(good.replace(/&Signature=.*/, ''), 'saml-unsigned')
    refuses(good.replace(/&SigAlg=[^&]*/, ''), 'saml-unsigned')
    refuses(`${good}&SigAlg=x`, 'saml-shape')
    refuses(`${good}&other=x`, 'saml-shape')
    refuses(`${good}&`, 'saml-shape')
    refuses(good.replace(/&Signature=/, '&Signature=%'), 'saml-shape')
    refuses(good.replace(/SigAlg=[^&]*/, 'SigAlg=sha1'), 'saml-algorithm')
    refuses(good.replace(/&Signature=/, '&Signature=!'), 'saml-signature')
    refuses(good.replace(/&Signature=.*/, '&Signature=AAAA'), 'saml-signature')
  })

  test('is refused when what is signed cannot be unpacked', () => {
    refuses(write().replace('SAMLRequest=', 'SAMLRequest=!'), 'saml-signature')
    refuses(write({ message: 'é'.repeat(200_000) }), 'saml-xml')
  })
})

test('a connection that speaks SAML takes nothing that OpenID Connect sends', async () => {
  const id = await saml.connect()
  const browser = saml.browser()
  await saml.begin(id, '', browser)
  equal((await browser.go(`/sso/${id}/callback?code=x&state=${'y'.repeat(43)}`)).status, 400)
  equal((await browser.post(`/sso/${id}/backchannel-logout`, { logout_token: 'x' })).status, 400)
  equal(browser.isSignedIn, false)
})
