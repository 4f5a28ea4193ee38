import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { engineRequest } from '../../../test/harness/requests.ts'
import type { JsonSchema } from '../../core/generation.ts'
import { isShort } from './text-size.ts'

const taking = (properties: JsonSchema) => {
  const parameters = { type: 'object', properties } as const
  const tool = { name: 'find', description: '', parameters, isStrict: false, schemaPath: [], input: 'json' } as const
  return engineRequest({ tools: [tool] })
}

test('what a pattern has to be made into a grammar of is not prepared beside answers, however short it is', () => {
  equal(isShort(taking({ name: { type: 'string' } })), true)
  equal(isShort(taking({ name: { type: 'string', pattern: '^([a-z]?){1000}$' } })), false)
  equal(isShort(taking({ names: { type: 'object', patternProperties: { '^a': { type: 'string' } } } })), false)
})

test('a tool that takes something called a pattern is as short as any', () => {
  equal(isShort(taking({ pattern: { type: 'string' } })), true)
})
