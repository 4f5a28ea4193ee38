// What is refused of the way to a provider and back, beside the answer itself; and what a description changes.

import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setConnectionOn } from '../../../src/accounts/single-sign-on/connections.ts'
import { updateSamlConnection, rotateSamlKey } from '../../../src/accounts/single-sign-on/saml/saml-connections.ts'
import { createMember, findMemberPrincipal } from '../../../src/accounts/members.ts'
import type { ConnectionId } from '../../../src/core/ids.ts'
import type { Principal } from '../../../src/core/principal.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { secondGateway } from '../../harness/databases/second-gateway.ts'
import { makeCertificate } from '../../harness/make-certificate.ts'
import { createTestSso, testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { createCompany, newMember, newMemberOfPart } from '../../http/api/world.ts'
import { attemptsOf, openSaml, type Begun, type Saml } from './open-saml.ts'
import { describeProvider, instant, providerId, readQuestion, signInUrl, type SamlLie } from './saml-provider.ts'
import { newKey } from './sign-tree.ts'
import { find } from './xml-tree.ts'

const operator = { kind: 'operator' } as const
const minute = 60_000

onEachDatabase((database) => {
  let saml: Saml
  let connectionId: ConnectionId
  before(async () => {
    saml = await openSaml(await database.open())
    connectionId = await saml.connect()
  })
  after(() => saml.close())

  const partsOf = ({ service }: Saml) => ({
    ...service.accounts,
    signIn: testSignIn,
    sso: createTestSso(service.accounts),
  })
  const lastCode = async (id = connectionId) => (await attemptsOf(saml, id)).at(-1)?.code
  const fresh = async () => {
    await saml.service.db.deleteFrom('login_attempts').execute()
    saml.service.clock.advance(1_000)
  }
  const responseTo = (begun: Begun, lie: SamlLie = {}) => saml.provider.respond(begun.question, saml.person(), lie)
  const post = (begun: Begun, SAMLResponse: string) =>
    begun.browser.post(`/sso/${begun.connectionId}/acs`, { SAMLResponse })

  describe('a question', () => {
    test('is signed, names the addresses, and asks anew where that has to be shown', async () => {
      const { question } = await saml.begin(connectionId)
      deepEqual([question.acsUrl, question.isForced], [`https://ai.example.com/sso/${connectionId}/acs`, false])
      equal(question.entityId.replaceAll('&#47;', '/'), `https://ai.example.com/sso/${connectionId}/metadata`)
      equal((await saml.begin(connectionId, '?prove=1')).question.isForced, true)
      const forced = await saml.connect({ forcesSignIn: true, authnContext: 'urn:context' })
      const { question: asked } = await saml.begin(forced)
      equal(asked.isForced, true)
      match(asked.message, /Comparison="exact"><saml:AuthnContextClassRef>urn:context</)
    })
  })

  describe('an answer', () => {
    test('31 is signed by the connection’s own provider', async () => {
      await fresh()
      const other = await newKey('another provider')
      const source = { metadata: describeProvider('https://other.example', [other.certificate]) }
      await saml.connect({ source })
      equal((await saml.answer(await saml.begin(connectionId), saml.person(), { signing: { key: other } })).status, 400)
      equal(await lastCode(), 'saml-signature')
    })

    test('79 opens nothing by a connection that is off, or is a draft', async () => {
      for (const state of ['off', 'draft'] as const) {
        await fresh()
        const id = await saml.connect()
        const begun = await saml.begin(id)
        await saml.service.db.updateTable('connections').set({ state }).where('id', '=', id).execute()
        equal((await saml.answer(begun, saml.person())).status, 400, state)
        deepEqual(await attemptsOf(saml, id), [{ outcome: 'refused', code: 'connection-off' }])
        equal((await saml.browser().go(`/sso/${id}/start`)).status, 400)
      }
    })

    test('80 and 105 is for one connection, of whichever organization', async () => {
      const company = await createCompany(saml.service.accounts)
      for (const organizationId of [saml.company.organizationId, company.organizationId]) {
        await fresh()
        const other = await saml.connect({ organizationId })
        const [mine, theirs] = [await saml.begin(connectionId), await saml.begin(other)]
        equal((await saml.answer({ ...theirs, question: mine.question }, saml.person())).status, 400)
        equal(await lastCode(other), 'saml-addressee')
        await fresh()
        const mixed = { ...theirs.question, id: mine.question.id }
        equal((await saml.answer({ ...theirs, question: mixed }, saml.person())).status, 400)
        equal(await lastCode(other), 'no-flow')
        equal((await saml.answer(mine, saml.person())).status, 303)
      }
    })

    test('81 is not brought in an address', async () => {
      await fresh()
      const begun = await saml.begin(connectionId)
      const SAMLResponse = responseTo(begun)
      const query = new URLSearchParams({ SAMLResponse }).toString()
      equal((await begun.browser.go(`/sso/${connectionId}/acs?${query}`)).status, 400)
      equal(await lastCode(), 'answer-invalid')
      equal((await saml.browser().go('/sso/conn_none/acs')).status, 400)
    })

    test('91 is of a sign-in that came after the question, where that has to be shown', async () => {
      const earlier = (ms: number): SamlLie => ({
        assertion: (assertion) =>
          void (find(assertion, 'AuthnStatement').attributes['AuthnInstant'] = instant(saml.provider.nowMs - ms)),
      })
      for (const [ms, status] of [[5 * minute, 400] as const, [30_000, 303] as const]) {
        await fresh()
        const begun = await saml.begin(connectionId, '?prove=1')
        equal((await saml.answer(begun, saml.person(), earlier(ms))).status, status)
      }
      await fresh()
      equal((await saml.answer(await saml.begin(connectionId), saml.person(), earlier(5 * minute))).status, 303)
    })

    test('is of the kind of sign-in that is demanded', async () => {
      await fresh()
      const id = await saml.connect({ authnContext: 'urn:oasis:names:tc:SAML:2.0:ac:classes:TimeSyncToken' })
      equal((await saml.answer(await saml.begin(id), saml.person())).status, 400)
      equal(await lastCode(id), 'saml-context')
    })

    test('98 and 99 that nobody has asked for opens nothing under another’s question, again and again', async () => {
      const begun = await saml.begin(connectionId)
      const laundered = saml.provider.respond(begun.question, saml.person(), {
        assertion: (assertion) => void delete find(assertion, 'SubjectConfirmationData').attributes['InResponseTo'],
      })
      for (let round = 0; round < 3; round++) {
        await fresh()
        equal((await post(begun, laundered)).status, 400)
        equal(await lastCode(), 'saml-request')
      }
      equal((await saml.answer(begun, saml.person())).status, 303)
    })

    test('100 to 102 counts once: twice at once, again afterwards, and on another gateway', async () => {
      await fresh()
      const second = await secondGateway(saml.service)
      const begun = await saml.begin(connectionId)
      const SAMLResponse = responseTo(begun)
      const sent = {
        method: 'POST' as const,
        url: `/sso/${connectionId}/acs`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ SAMLResponse }).toString(),
      }
      const gateways = [saml.service.app, second.app, saml.service.app, second.app]
      const answers = await Promise.all(gateways.map((app) => app.inject(sent)))
      deepEqual(answers.map(({ statusCode }) => String(statusCode)).toSorted(), ['303', '400', '400', '400'])
      for (const { app } of [saml.service, second]) equal((await app.inject(sent)).statusCode, 400)
      equal(await lastCode(), 'saml-replay')
      const again = await saml.begin(connectionId)
      equal((await post(again, SAMLResponse)).status, 400)
      await second.close()
    })

    test('106 comes within ten minutes', async () => {
      await fresh()
      const begun = await saml.begin(connectionId)
      saml.service.clock.advance(10 * minute + 1_000)
      equal((await saml.answer(begun, saml.person())).status, 400)
      equal(await lastCode(), 'no-flow')
    })

    test('107 is finished in the browser that began, and is still there for that one', async () => {
      await fresh()
      const begun = await saml.begin(connectionId)
      const victim = saml.browser()
      await saml.begin(connectionId, '', victim)
      const { headers } = await post(begun, responseTo(begun))
      const location = String(headers['location'])
      equal((await victim.go(location)).status, 400)
      equal((await saml.browser().go(location)).status, 400)
      equal(victim.isSignedIn, false)
      equal(await lastCode(), 'no-flow')
      equal((await begun.browser.go(location)).status, 303)
    })

    test('108 is asked for once, and within a minute', async () => {
      await fresh()
      const [first, second] = [await saml.begin(connectionId), await saml.begin(connectionId)]
      const place = async (begun: Begun) => String((await post(begun, responseTo(begun))).headers['location'])
      const [location, late] = [await place(first), await place(second)]
      const answers = await Promise.all([1, 2, 3].map(() => first.browser.go(location)))
      deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['303', '400', '400'])
      saml.service.clock.advance(minute + 1)
      equal((await second.browser.go(late)).status, 400)
      equal((await second.browser.go('/sso/complete')).status, 400)
      equal((await second.browser.go(`/sso/complete?r=${'x'.repeat(43)}`)).status, 400)
    })

    test('40 that is encrypted and changed anywhere gets one answer', async () => {
      await fresh()
      const begun = await saml.begin(connectionId)
      const person = saml.person()
      for (let round = 0; round < 60; round++) {
        const damage = (data: Buffer) => {
          const at = Math.floor((data.length * round) / 60)
          data[at] = (data[at] ?? 0) ^ (1 << (round % 8))
          return data
        }
        await fresh()
        // Each in a browser of its own: too many refusals of one network are held back.
        const browser = saml.browser()
        equal((await saml.answer({ ...begun, browser }, person, { encrypting: { damage } })).status, 400)
        equal(await lastCode(), 'saml-decryption')
      }
    })
  })

  describe('a sign-in that the provider begins', () => {
    const unasked: SamlLie = {
      assertion(assertion, root) {
        delete root.attributes['InResponseTo']
        delete find(assertion, 'SubjectConfirmationData').attributes['InResponseTo']
      },
    }
    const send = async (id: ConnectionId, relayState?: string) => {
      await fresh()
      const begun = await saml.begin(id)
      const SAMLResponse = responseTo(begun, unasked)
      return begun.browser.post(`/sso/${id}/acs`, {
        SAMLResponse,
        ...(relayState !== undefined && { RelayState: relayState }),
      })
    }

    test('is refused unless that is agreed', async () => {
      equal((await send(connectionId)).status, 400)
      equal(await lastCode(), 'saml-unsolicited')
    })

    test('opens nothing by itself, where it is: the browser is sent to ask', async () => {
      const id = await saml.connect({ providerInitiated: 'bounce' })
      for (const [relay, next] of [
        [undefined, '%2F'],
        ['/o/org_1', '%2Fo%2Forg_1'],
      ] as const) {
        const answer = await send(id, relay)
        deepEqual([answer.status, answer.headers['location']], [303, `/sso/${id}/start?next=${next}`])
        equal(answer.headers['set-cookie'], undefined)
      }
    })
  })

  describe('a description of a provider', () => {
    const serve = async (content: () => string) => {
      const server = createServer((_request, response) => response.end(content())).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const metadataUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`
      return { server, metadataUrl }
    }

    test('32 is read anew when a key is unknown, and one that it has no more signs nothing', async () => {
      const [old, next] = [saml.provider.key, await newKey('next')]
      let certificates = [old.certificate]
      const { server, metadataUrl } = await serve(() => saml.provider.metadata(certificates))
      const id = await saml.connect({ source: { metadataUrl } })
      const signs = async (key: typeof old) => {
        await fresh()
        return (await saml.answer(await saml.begin(id), saml.person(), { signing: { key } })).status
      }
      deepEqual([await signs(old), await signs(next)], [303, 400])
      certificates = [old.certificate, next.certificate]
      saml.service.clock.advance(minute)
      deepEqual([await signs(next), await signs(old)], [303, 303])
      certificates = [next.certificate]
      saml.service.clock.advance(70 * minute)
      deepEqual([await signs(next), await signs(old)], [303, 400])
      server.close()
    })

    test('is read anew when that is due before anybody is sent to the provider, which may have moved', async () => {
      let content = saml.provider.metadata()
      const { server, metadataUrl } = await serve(() => content)
      const id = await saml.connect({ source: { metadataUrl } })
      const moved = 'https://moved.example.com/sso'
      content = content.replace(signInUrl, moved)
      const leadsTo = async () => (await saml.browser().begin(id)).split('?')[0]
      equal(await leadsTo(), signInUrl)
      saml.service.clock.advance(70 * minute)
      equal(await leadsTo(), moved)
      server.close()
    })

    test('that cannot be read, or is another’s, leaves the last good one in force', async () => {
      let content = saml.provider.metadata()
      const { server, metadataUrl } = await serve(() => content)
      const id = await saml.connect({ source: { metadataUrl } })
      for (const [text, failure] of [
        ['<html>', /at character|not with EntityDescriptor/],
        [
          saml.provider.metadata([saml.provider.key.certificate], 'https://evil.example'),
          /https:\/\/evil\.example now/,
        ],
      ] as const) {
        content = text
        saml.service.clock.advance(70 * minute)
        await fresh()
        equal((await saml.answer(await saml.begin(id), saml.person())).status, 303)
        const row = await saml.service.db
          .selectFrom('saml_connections')
          .select('failure')
          .where('connection_id', '=', id)
          .executeTakeFirst()
        match(row?.failure ?? '', failure)
      }
      server.close()
    })

    test('that is handed over is refused with the place at which it cannot be used', async () => {
      const { certificate } = saml.provider.key
      const good = saml.provider.metadata()
      const ofCurve = makeCertificate('idp.example.com', saml.service.clock.nowMs() + 70 * minute)
      const bad: readonly (readonly [string, RegExp])[] = [
        ['', /There is no element/],
        [good.replace('<md:IDPSSODescriptor', '<!DOCTYPE x><md:IDPSSODescriptor'), /at character/],
        [good.replaceAll('IDPSSODescriptor', 'SPSSODescriptor'), /EntityDescriptor\/IDPSSODescriptor: There is none/],
        [good.replace('entityID="', 'entityID="" x="'), /no entityID/],
        [good.replaceAll('HTTP-Redirect', 'HTTP-POST'), /HTTP-Redirect/],
        [good.replace('https://idp.example.com/sso"', 'javascript:alert(1)"'), /SingleSignOnService\/@Location/],
        [good.replace(certificate, ''), /X509Certificate: This is no certificate/],
        [describeProvider('https://idp.example.com/saml', []), /no certificate for signing/],
        [describeProvider('https://idp.example.com/saml', [ofCurve.certificate]), /no RSA key of \d+ bits/],
      ]
      for (const [metadata, message] of bad) await rejects(saml.connect({ source: { metadata } }), message)
      const keys = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(newKey))
      const many = describeProvider(
        'https://x.example',
        keys.map((key) => key.certificate),
      )
      await rejects(saml.connect({ source: { metadata: many } }), /more than 4/)
      const reference = { id: connectionId, organizationId: saml.company.organizationId }
      const source = { metadata: describeProvider('https://other.example', [certificate]) }
      await rejects(updateSamlConnection(partsOf(saml), operator, reference, { source }), /another provider/)
    })

    test('is not read from an address of the house', async () => {
      await rejects(
        saml.connect({ source: { metadataUrl: 'http://127.0.0.2/metadata' } }),
        /not one of the open internet/,
      )
      await rejects(saml.connect({ source: { metadataUrl: 'http://127.0.0.1:1/metadata' } }), /cannot be read/)
    })
  })

  test('the service’s own key changes in two steps, and what is encrypted for either is read meanwhile', async () => {
    const id = await saml.connect()
    const reference = { id, organizationId: saml.company.organizationId }
    const read = async () => {
      const { text } = await saml.service.ask({ path: `/sso/${id}/metadata` })
      return [...new Set([...text.matchAll(/<ds:X509Certificate>([^<]+)</g)].map((one) => one[1] ?? ''))]
    }
    const works = async (certificate: string) => {
      await fresh()
      const begun = await saml.begin(id)
      const SAMLResponse = saml.provider.respond(begun.question, saml.person(), { encrypting: {}, certificate })
      return (await saml.send(begun, { SAMLResponse })).status
    }
    const { organizationId } = reference
    const auditor = { kind: 'management-key', managementKeyId: 'mkey_1', organizationId, role: 'auditor' } as const
    await rejects(rotateSamlKey(partsOf(saml), auditor, reference), { code: 'permission-denied' })
    const [old = ''] = await read()
    equal(await rotateSamlKey(partsOf(saml), operator, reference), 'published')
    const [same, next = ''] = await read()
    equal(same, old)
    deepEqual([await works(old), await works(next)], [303, 303])
    equal(await rotateSamlKey(partsOf(saml), operator, reference), 'in-use')
    deepEqual(await read(), [next])
    const location = await saml.browser().begin(id)
    equal(readQuestion(location, next).id.startsWith('_'), true)
    equal(await works(old), 400)
    equal(await lastCode(id), 'saml-decryption')
  })

  test('nobody makes an owner’s way in their own by a certificate of theirs', async () => {
    await fresh()
    const id = await saml.connect()
    const { organizationId, members } = saml.company
    const { db, accounts } = saml.service
    const owner = await signInPerson(accounts, { memberId: members.owner.memberId })
    const known = { subject: 'persistent owner-name-id', organization_id: organizationId, user_id: owner.user.userId }
    const identity = { ...known, connection_id: id, created_at: 0, last_seen_at: 0 }
    await db.insertInto('identities').values(identity).execute()
    const mine = await newKey('of the administrator')
    const source = { metadata: describeProvider(providerId, [mine.certificate]) }
    const change = (principal: Principal) =>
      updateSamlConnection(partsOf(saml), principal, { id, organizationId }, { source })
    await rejects(change(members.admin), { code: 'permission-denied', message: /from which owner may be given/ })
    const signed = { signing: { key: mine } }
    equal(
      (await saml.answer(await saml.begin(id), { nameId: 'owner-name-id', email: 'o@acme.example' }, signed)).status,
      400,
    )
    await updateSamlConnection(partsOf(saml), members.admin, { id, organizationId }, { forcesSignIn: true })
    await change(members.owner)
    // Of somebody who is an owner no more there is nothing to be had.
    await db
      .updateTable('identities')
      .set({ user_id: await userOfAdmin() })
      .where('connection_id', '=', id)
      .execute()
    await change(members.admin)
    const part = { base: 'admin', permissions: ['connections:update'] } as const
    const confined = await findMemberPrincipal(accounts, await newMemberOfPart(accounts, saml.company, part))
    if (confined === null) throw new Error('The member is not let in.')
    await rejects(change(confined), { code: 'permission-denied', message: /from which admin may be given/ })
  })

  test('who may do more than whoever last changed a connection is not recognised by it, until somebody else stands for it', async () => {
    const { organizationId } = saml.company
    const { accounts } = saml.service
    const id = await saml.connect()
    const part = { base: 'admin', permissions: ['connections:update'] } as const
    const confined = await findMemberPrincipal(accounts, await newMemberOfPart(accounts, saml.company, part))
    if (confined === null) throw new Error('The member is not let in.')
    const meet = async () => {
      await fresh()
      const who = saml.person()
      const member = { organizationId, email: String(who.email), name: 'M', role: 'admin' } as const
      await createMember(accounts, { kind: 'operator' }, member)
      return (await saml.answer(await saml.begin(id), who)).status
    }
    equal(await meet(), 303)
    await updateSamlConnection(partsOf(saml), confined, { id, organizationId }, { emailAttribute: 'other' })
    await updateSamlConnection(partsOf(saml), confined, { id, organizationId }, { emailAttribute: null })
    equal(await meet(), 400)
    equal(await lastCode(id), 'above-answerer')
    await setConnectionOn(partsOf(saml), saml.company.members.admin, { id, organizationId }, true)
    equal(await meet(), 303)
  })

  const userOfAdmin = async () => {
    const memberId = await newMember(saml.service.accounts, saml.company.organizationId, 'admin')
    return (await signInPerson(saml.service.accounts, { memberId })).user.userId
  }

  test('whoever switches a connection off ends the sessions that began with it', async () => {
    await fresh()
    const id = await saml.connect()
    const begun = await saml.begin(id)
    await saml.answer(begun, saml.person())
    equal((await begun.browser.ask('GET', 'session')).status, 200)
    await setConnectionOn(partsOf(saml), operator, { id, organizationId: saml.company.organizationId }, false)
    equal((await begun.browser.ask('GET', 'session')).status, 401)
  })
})
