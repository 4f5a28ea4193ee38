// A provider's word that somebody has signed out there ends their session here; nobody else's word does.

import { deepEqual, equal } from 'node:assert/strict'
import { sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { ConnectionId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import type { SsoBrowser } from '../open-sso.ts'
import { openSaml, type Saml } from './open-saml.ts'
import { instant, persistent, providerId, readQuestion, saml as assertion, samlp, signOutUrl } from './saml-provider.ts'
import { signTree } from './sign-tree.ts'
import { find, write, xml, type XmlTree } from './xml-tree.ts'

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'
type Change = (request: XmlTree) => void

onEachDatabase((database) => {
  let saml: Saml
  let connectionId: ConnectionId
  before(async () => {
    saml = await openSaml(await database.open())
    connectionId = await saml.connect()
  })
  after(() => saml.close())

  type SignedIn = { readonly browser: SsoBrowser; readonly nameId: string }
  const signIn = async (id = connectionId, person = saml.person()): Promise<SignedIn> => {
    saml.service.clock.advance(1_000)
    const begun = await saml.begin(id)
    equal((await saml.answer(begun, person)).status, 303)
    return { browser: begun.browser, nameId: person.nameId }
  }
  const isIn = async ({ browser }: SignedIn) => (await browser.ask('GET', 'session')).status === 200

  const build = (nameId: string, change: Change = () => {}, id = connectionId): XmlTree => {
    const request = xml(
      'samlp:LogoutRequest',
      {
        'xmlns:samlp': samlp,
        'xmlns:saml': assertion,
        ID: saml.provider.newId(),
        Version: '2.0',
        IssueInstant: instant(saml.provider.nowMs),
        Destination: `https://ai.example.com/sso/${id}/slo`,
      },
      xml('saml:Issuer', {}, providerId),
      xml('saml:NameID', { Format: persistent }, nameId),
      xml('samlp:SessionIndex', {}, `session-of-${nameId}`),
    )
    change(request)
    return request
  }
  type Query = { readonly field?: string; readonly key?: string; readonly algorithm?: string; readonly hash?: string }
  const pack = (text: string) => encodeURIComponent(deflateRawSync(Buffer.from(text)).toString('base64'))
  const query = (
    request: XmlTree,
    { field = 'SAMLRequest', key, algorithm = rsaSha256, hash = 'sha256' }: Query = {},
  ) => {
    const signed = `${field}=${pack(write(request))}&RelayState=abc&SigAlg=${encodeURIComponent(algorithm)}`
    const value = sign(hash, Buffer.from(signed), key ?? saml.provider.key.privateKey).toString('base64')
    return `${signed}&Signature=${encodeURIComponent(value)}`
  }
  const go = (text: string, id = connectionId) => {
    saml.service.clock.advance(1_000)
    return saml.browser().go(`/sso/${id}/slo?${text}`)
  }
  const post = (request: XmlTree, id = connectionId) => {
    saml.service.clock.advance(1_000)
    const SAMLRequest = Buffer.from(write(request)).toString('base64')
    return saml.browser().post(`/sso/${id}/slo`, { SAMLRequest })
  }

  describe('a request to sign somebody out', () => {
    test('ends the session that it names, and is answered', async () => {
      const one = await signIn()
      const other = await signIn()
      const request = build(one.nameId)
      const answer = await go(query(request))
      equal(answer.status, 303)
      const location = new URL(String(answer.headers['location']))
      equal(`${location.origin}${location.pathname}`, signOutUrl)
      const reply = inflateRawSync(Buffer.from(location.searchParams.get('SAMLResponse') ?? '', 'base64')).toString()
      equal(reply.includes(`InResponseTo="${request.attributes['ID']}"`), true)
      equal(location.searchParams.get('RelayState'), 'abc')
      deepEqual([await isIn(one), await isIn(other)], [false, true])
    })

    test('ends all sessions of a person where it names none, and comes in a form as well', async () => {
      const person = saml.person()
      const both = [await signIn(connectionId, person), await signIn(connectionId, person)]
      const request = build(person.nameId, (tree) => void tree.children.pop())
      signTree(request, request, { key: saml.provider.key })
      equal((await post(request)).status, 303)
      deepEqual([await isIn(both[0] as SignedIn), await isIn(both[1] as SignedIn)], [false, false])
    })

    test('is refused when it is forged', async () => {
      const victim = await signIn()
      const of = (change?: Change) => build(victim.nameId, change)
      const evil = of()
      const { key, otherKey } = saml.provider
      const good = query(of())
      const bomb = encodeURIComponent(deflateRawSync(Buffer.alloc(30_000_000, 0x20)).toString('base64'))
      const forgeries: Readonly<Record<string, string>> = {
        '130 unsigned': `SAMLRequest=${pack(write(of()))}`,
        '131 signed by another': query(of(), { key: otherKey.privateKey }),
        '132 the request twice': `${good}&SAMLRequest=${pack(write(evil))}`,
        '132 the request twice, with its name in other letters': `${good}&%53AMLRequest=${pack(write(evil))}`,
        '132 another field': `${good}&x=y`,
        '133 RSA with SHA-1': query(of(), { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', hash: 'sha1' }),
        '134 an inflating bomb': bombQuery(bomb),
        '137 an answer that is unsigned': `SAMLResponse=${pack(write(of()))}`,
        '137 an answer that nobody has asked for': query(of(), { field: 'SAMLResponse' }),
        '138 expired': query(
          of((tree) => void (tree.attributes['NotOnOrAfter'] = instant(saml.provider.nowMs - 120_000))),
        ),
        '138 made a day ago': query(
          of((tree) => void (tree.attributes['IssueInstant'] = instant(saml.provider.nowMs - 86_400_000))),
        ),
        '138 for another service': query(of((tree) => void (tree.attributes['Destination'] = 'https://other.example'))),
        '138 for nobody': query(of((tree) => void delete tree.attributes['Destination'])),
        '138 of another provider': query(
          of((tree) => void (find(tree, 'Issuer').children = ['https://other.example'])),
        ),
        'of another version': query(of((tree) => void (tree.attributes['Version'] = '1.1'))),
        'without an id': query(of((tree) => void (tree.attributes['ID'] = ''))),
        'with too long an id': query(of((tree) => void (tree.attributes['ID'] = `_${'a'.repeat(256)}`))),
        'that asks for something else': query(of((tree) => void (tree.tag = 'samlp:ManageNameIDRequest'))),
        'with more sessions than anybody has': query(
          of((tree) => {
            for (let count = 0; count < 100; count++) tree.children.push(xml('samlp:SessionIndex', {}, `s${count}`))
          }),
        ),
        'that is no text': query(of()).replace('SAMLRequest=', 'SAMLRequest=%'),
        'with an extension': query(of((tree) => void tree.children.splice(1, 0, xml('samlp:Extensions')))),
        'with a name of another format': query(of((tree) => void delete find(tree, 'NameID').attributes['Format'])),
        'with a comment in the name': query(
          of((tree) => void find(tree, 'NameID').children.push({ comment: '' }, 'x')),
        ),
        'that is none': 'x',
        'that is empty': '',
      }
      function bombQuery(packed: string): string {
        const signed = `SAMLRequest=${packed}&SigAlg=${encodeURIComponent(rsaSha256)}`
        const value = sign('sha256', Buffer.from(signed), key.privateKey).toString('base64')
        return `${signed}&Signature=${encodeURIComponent(value)}`
      }
      for (const [name, text] of Object.entries(forgeries)) equal((await go(text)).status, 400, name)
      equal((await post(of())).status, 400, '135 unsigned in a form')
      for (const fields of [{}, { SAMLRequest: '!' }, { SAMLRequest: Buffer.from('<').toString('base64') }]) {
        equal((await saml.browser().post(`/sso/${connectionId}/slo`, fields)).status, 400, JSON.stringify(fields))
      }
      equal(await isIn(victim), true)
    })

    test('136 is refused when it is wrapped', async () => {
      const [victim, attacker] = [await signIn(), await signIn()]
      const signed = build(attacker.nameId)
      const signature = signTree(signed, signed, { key: saml.provider.key })
      const evil = build(victim.nameId)
      const original = { ...signed, children: signed.children.filter((child) => child !== signature) }
      evil.children.splice(1, 0, { ...signature, children: [...signature.children, xml('ds:Object', {}, original)] })
      equal((await post(evil)).status, 400)
      const inside = build(victim.nameId)
      inside.children.push(signed)
      equal((await post(inside)).status, 400)
      deepEqual([await isIn(victim), await isIn(attacker)], [true, true])
    })

    test('139 counts once', async () => {
      const person = saml.person()
      await signIn(connectionId, person)
      const text = query(build(person.nameId))
      equal((await go(text)).status, 303)
      const again = await signIn(connectionId, person)
      equal((await go(text)).status, 400)
      equal(await isIn(again), true)
    })

    test('140 ends no session of another connection, or of somebody else', async () => {
      const other = await saml.connect()
      const one = await signIn()
      equal((await go(query(build(one.nameId, () => {}, other)), other)).status, 303)
      equal(await isIn(one), true)
      const mixed = build(saml.person().nameId, (tree) => {
        find(tree, 'SessionIndex').children = [`session-of-${one.nameId}`]
      })
      equal((await go(query(mixed))).status, 303)
      equal(await isIn(one), true)
    })
  })

  describe('a sign-out that begins here', () => {
    const out = async ({ browser }: SignedIn) => {
      const { status, body, text } = await browser.ask('POST', 'session/sign-out')
      equal(status, 200, text)
      return body['location'] as string | null
    }
    /** What the provider is asked, from the address that the browser is sent to. */
    const readRequest = async (location: string, id: ConnectionId) => {
      equal(location.startsWith(`${signOutUrl}?`), true)
      // It throws for what is not signed by the service's own key.
      return readQuestion(location, await saml.certificateOf(id))
    }
    const reply = (id: ConnectionId, inResponseTo: string, change: Change = () => {}): XmlTree => {
      const response = xml(
        'samlp:LogoutResponse',
        {
          'xmlns:samlp': samlp,
          'xmlns:saml': assertion,
          ID: saml.provider.newId(),
          Version: '2.0',
          IssueInstant: instant(saml.provider.nowMs),
          Destination: `https://ai.example.com/sso/${id}/slo`,
          InResponseTo: inResponseTo,
        },
        xml('saml:Issuer', {}, providerId),
        xml('samlp:Status', {}, xml('samlp:StatusCode', { Value: 'urn:oasis:names:tc:SAML:2.0:status:Success' })),
      )
      change(response)
      return response
    }
    const inAddress = (response: XmlTree, given: Query = {}) => query(response, { ...given, field: 'SAMLResponse' })
    const begin = async () => {
      const id = await saml.connect({ signsOutThere: true })
      const one = await signIn(id)
      const location = await out(one)
      return { id, one, request: await readRequest(String(location), id) }
    }

    test('ends the session here at once, and brings the provider a signed request that names it', async () => {
      const { one, request } = await begin()
      equal(await isIn(one), false)
      equal(request.message.includes(`<saml:NameID Format="${persistent}">${one.nameId}</saml:NameID>`), true)
      equal(request.message.includes(`<samlp:SessionIndex>session-of-${one.nameId}</samlp:SessionIndex>`), true)
      equal(/NotOnOrAfter="[^"]+Z"/.test(request.message), true)
    })

    test('is confirmed by the provider’s answer, in an address or in a form, once', async () => {
      const { id, request } = await begin()
      const text = inAddress(reply(id, request.id))
      const answer = await go(text, id)
      deepEqual([answer.status, answer.headers['location']], [303, '/login?state=signed-out'])
      equal((await go(text, id)).status, 400)
      const other = await begin()
      const response = reply(other.id, other.request.id)
      signTree(response, response, { key: saml.provider.key })
      const SAMLResponse = Buffer.from(write(response)).toString('base64')
      equal((await saml.browser().post(`/sso/${other.id}/slo`, { SAMLResponse })).status, 303)
    })

    test('is not confirmed by an answer that is forged, and is over here all the same', async () => {
      const { id, one, request } = await begin()
      const other = await begin()
      const of = (change?: Change) => reply(id, request.id, change)
      const { otherKey } = saml.provider
      const status = (value: string): Change => {
        return (tree) =>
          void (find(tree, 'StatusCode').attributes['Value'] = `urn:oasis:names:tc:SAML:2.0:status:${value}`)
      }
      const forgeries: Readonly<Record<string, string>> = {
        '137 unsigned': `SAMLResponse=${pack(write(of()))}`,
        'signed by another': inAddress(of(), { key: otherKey.privateKey }),
        'by RSA with SHA-1': inAddress(of(), { algorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1', hash: 'sha1' }),
        'with a request beside it': `${inAddress(of())}&SAMLRequest=${pack(write(of()))}`,
        'to a request that nobody has made': inAddress(reply(id, `_${'x'.repeat(43)}`)),
        'to the request of another connection': inAddress(reply(id, other.request.id)),
        'for another service': inAddress(of((tree) => void (tree.attributes['Destination'] = 'https://other.example'))),
        'for nobody': inAddress(of((tree) => void delete tree.attributes['Destination'])),
        'of another provider': inAddress(
          of((tree) => void (find(tree, 'Issuer').children = ['https://other.example'])),
        ),
        'made a day ago': inAddress(
          of((tree) => void (tree.attributes['IssueInstant'] = instant(saml.provider.nowMs - 86_400_000))),
        ),
        'that says it did not': inAddress(of(status('Responder'))),
        'that says it did in part': inAddress(
          of((tree) => {
            const partial = { Value: 'urn:oasis:names:tc:SAML:2.0:status:PartialLogout' }
            find(tree, 'StatusCode').children.push(xml('samlp:StatusCode', partial))
          }),
        ),
        'that is a request': inAddress(build(one.nameId, () => {}, id)),
        'with an extension': inAddress(of((tree) => void tree.children.splice(1, 0, xml('samlp:Extensions')))),
      }
      for (const [name, text] of Object.entries(forgeries)) {
        const answer = await go(text, id)
        equal(answer.status, 400, name)
        equal(answer.text.includes('Your provider did not confirm it'), true, name)
      }
      const SAMLResponse = Buffer.from(write(of())).toString('base64')
      equal((await saml.browser().post(`/sso/${id}/slo`, { SAMLResponse })).status, 400, '137 unsigned in a form')
      equal(await isIn(one), false)
      equal((await go(inAddress(of()), id)).status, 303, 'The true one is taken still.')
    })

    test('goes nowhere where the connection does not want it, or the provider has no place for it', async () => {
      equal(await out(await signIn()), null)
      const provider = {
        entityId: providerId,
        signInUrl: 'https://idp.example.com/sso',
        signOutUrl: null,
        certificates: [saml.provider.key.certificate],
      }
      const id = await saml.connect({ signsOutThere: true, source: provider })
      const one = await signIn(id)
      equal(await out(one), null)
      equal(await isIn(one), false)
    })
  })
})
