// What is true is taken, in every form in which providers say it.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { attemptsOf, openSaml, type Saml } from './open-saml.ts'
import { shapes, type SamlLie } from './saml-provider.ts'

onEachDatabase((database) => {
  let saml: Saml
  before(async () => {
    saml = await openSaml(await database.open())
  })
  after(() => saml.close())

  const signsIn = async (lie: SamlLie, settings = {}) => {
    const connectionId = await saml.connect(settings)
    const begun = await saml.begin(connectionId, '?next=/o/org_1/keys')
    const answer = await saml.answer(begun, saml.person(), lie)
    deepEqual(await attemptsOf(saml, connectionId), [{ outcome: 'signed-in', code: null }])
    deepEqual([answer.status, answer.headers['location']], [303, '/o/org_1/keys'])
    equal((await begun.browser.ask('GET', 'session')).status, 200)
  }

  describe('an answer is taken', () => {
    for (const shape of shapes) {
      test(`that is signed as ${shape}`, () => signsIn({ shape }))
      test(`that is signed as ${shape} and encrypted`, () => signsIn({ shape, encrypting: {} }))
    }
  })
})
