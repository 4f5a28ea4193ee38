// What is said of a captured answer to whoever looks after a connection, and that it uses nothing up.

import { equal, match, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { explainAnswer } from '../../../src/accounts/single-sign-on/saml/explain-answer.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { createTestSso, testSignIn } from '../../harness/management.ts'
import { openSaml, type Saml } from './open-saml.ts'
import { find } from './xml-tree.ts'

let saml: Saml
before(async () => {
  saml = await openSaml(await openMemoryDatabase())
})
after(() => saml.close())

test('a captured answer is explained as of when it was made, and can be used all the same', async () => {
  const { service } = saml
  const parts = { ...service.accounts, signIn: testSignIn, sso: createTestSso(service.accounts) }
  const connectionId = await saml.connect()
  const begun = await saml.begin(connectionId)
  const person = { ...saml.person(), groups: ['engineers', 'people'] }
  const SAMLResponse = saml.provider.respond(begun.question, person)
  const xml = Buffer.from(SAMLResponse, 'base64').toString()
  for (const text of [SAMLResponse, xml]) {
    const said = (await explainAnswer(parts, connectionId, text)).join('\n')
    match(said, /It answers a request\./)
    match(said, new RegExp(person.email))
    match(said, /Groups: engineers, people\./)
  }
  equal((await saml.send(begun, { SAMLResponse })).status, 303)
  service.clock.advance(86_400_000)
  await explainAnswer(parts, connectionId, SAMLResponse)
  const wrong = saml.provider.respond(begun.question, person, {
    assertion: (assertion) => void (find(assertion, 'Audience').children = ['https://other.example']),
  })
  await rejects(explainAnswer(parts, connectionId, wrong), { code: 'saml-addressee' })
})
