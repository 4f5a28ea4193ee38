import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { findEquivalent, modelEquivalents, suggestModel } from './model-equivalents.ts'
import { modelIds } from './model.ts'

test('every example of a kind of model is known as that kind', () => {
  for (const { kind, examples } of modelEquivalents) {
    deepEqual(
      examples.map((name) => findEquivalent(name)?.kind),
      examples.map(() => kind),
    )
  }
})

test('every model on offer takes the place of some', () => {
  deepEqual(new Set(modelEquivalents.map(({ model }) => model)), new Set(modelIds))
})

test('a name that a gateway writes with its vendor is the same model', () => {
  equal(findEquivalent('anthropic/claude-haiku-4-5')?.model, 'tycho-1.0')
  equal(findEquivalent('us.anthropic.claude-opus-4-8-v1:0')?.model, 'hal-1.0')
  equal(findEquivalent('openai/GPT-4o')?.model, 'clarke-1.0')
})

test('nothing is suggested for a name that says nothing, for a very long one, or by a model that the key may not use', () => {
  equal(suggestModel('my-own', modelIds), null)
  equal(suggestModel(`gpt-${'x'.repeat(100_000)}`, modelIds), null)
  equal(suggestModel('gpt-4o', ['hal-1.0']), null)
  equal(suggestModel('gpt-4o', modelIds), 'clarke-1.0')
})
