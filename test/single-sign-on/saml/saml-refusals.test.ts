// Every forgery is one difference away from an answer that signs somebody in.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ConnectionId } from '../../../src/core/ids.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { contentForgeries } from './content-forgeries.ts'
import type { Forgery } from './forgery.ts'
import { attemptsOf, countAll, openSaml, type Saml } from './open-saml.ts'
import { parserForgeries } from './parser-forgeries.ts'
import { readQuestion, shapes, type Shape } from './saml-provider.ts'
import { encryptedPairs, signatureForgeries } from './signature-forgeries.ts'

onEachDatabase((database) => {
  let saml: Saml
  let connectionId: ConnectionId
  let certificate = ''
  before(async () => {
    saml = await openSaml(await database.open())
    connectionId = await saml.connect()
    certificate = await saml.certificateOf(connectionId)
  })
  after(() => saml.close())

  const isRefused = async ({ code, lie, form }: Forgery, shape: Shape) => {
    await saml.service.db.deleteFrom('login_attempts').execute()
    const browser = saml.browser()
    // The certificate is the same each time, so it is not asked for each time.
    const question = readQuestion(await browser.begin(connectionId), certificate)
    const begun = { connectionId, browser, question }
    const [known, person] = [await countAll(saml), saml.person()]
    const forging = { provider: saml.provider, question: begun.question, person }
    const response = saml.provider.respond(begun.question, person, { shape, ...lie(forging), certificate })
    const fields = new URLSearchParams({ SAMLResponse: response })
    form?.(fields)
    const answer = await saml.send(begun, fields.toString())
    deepEqual(await attemptsOf(saml, connectionId), [{ outcome: 'refused', code }], shape)
    equal(answer.status, 400)
    match(answer.text, /We could not sign you in/)
    equal(answer.text.includes(code), false)
    equal(begun.browser.isSignedIn, false)
    const after = await countAll(saml)
    const isLate = latelyRefused.has(code)
    deepEqual(isLate ? after.slice(0, 4) : after, isLate ? known.slice(0, 4) : known)
    // A refusal is counted, and too many of them are held back.
    saml.service.clock.advance(1_000)
  }
  /** Found out when the browser asks for what the provider has said: the way is used up then. */
  const latelyRefused: ReadonlySet<string> = new Set(['domain-unverified', 'email-missing'])

  const groups = { signature: signatureForgeries, content: contentForgeries, parser: parserForgeries }
  for (const [group, forgeries] of Object.entries(groups)) {
    describe(`a forged answer is refused: ${group}`, () => {
      for (const forgery of forgeries) {
        test(forgery.name, async () => {
          for (const shape of forgery.shapes ?? shapes) await isRefused(forgery, shape)
        })
      }
    })
  }

  test('34 and 39 assertions that are encrypted together with others', async () => {
    for (const forgery of encryptedPairs(certificate)) {
      for (const shape of forgery.shapes ?? shapes) await isRefused(forgery, shape)
    }
  })
})
