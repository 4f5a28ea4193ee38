// What is true is taken, in every form in which providers say it.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ConnectionId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { benignForms } from './benign-forms.ts'
import { attemptsOf, openSaml, type Saml } from './open-saml.ts'
import { instant, shapes, type SamlLie } from './saml-provider.ts'
import { find } from './xml-tree.ts'

onEachDatabase((database) => {
  let saml: Saml
  let connectionId: ConnectionId
  before(async () => {
    saml = await openSaml(await database.open())
    connectionId = await saml.connect()
  })
  after(() => saml.close())

  const signsIn = async (lie: SamlLie) => {
    await saml.service.db.deleteFrom('login_attempts').execute()
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
    for (const [name, lie] of Object.entries(benignForms)) test(name, () => signsIn(lie))

    test('at both ends of the skew', async () => {
      for (const [element, attribute, offset] of [
        ['Conditions', 'NotOnOrAfter', -59_000],
        ['Conditions', 'NotBefore', 60_000],
        ['SubjectConfirmationData', 'NotOnOrAfter', -59_000],
      ] as const) {
        await signsIn({
          assertion: (assertion) =>
            void (find(assertion, element).attributes[attribute] = instant(saml.provider.nowMs + offset)),
        })
      }
    })

    test('of somebody whose name has letters of any kind', async () => {
      for (const name of ['Ünïcødé', '名前', 'a&b<c>"d"', "o'hara"]) {
        await signsIn({ assertion: (assertion) => void (find(assertion, 'NameID').children = [name]) })
      }
    })
  })
})
