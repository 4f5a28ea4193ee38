import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRandom } from '../campaigns/random.ts'
import { checkSynthetic } from './check-synthetic.ts'
import { synthesizeNotation } from './synthetic-notations.ts'

// The long form is `node test/templates/long-synthetic.ts`.
const templateCount = 96

it(`derives ${templateCount} templates in rarer notations, whose turns come back as they went in`, () => {
  for (let number = 0; number < templateCount; number++) {
    const { family, source } = synthesizeNotation(createRandom(77, number))
    const format = checkSynthetic(source)
    assert.ok(format !== null, `${number}: ${family}`)
    assert.equal(format.isGeneric, family === 'no-tools', `${number}: ${family}`)
  }
})
