import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainSchema, withProperties } from './plain-declarations.ts'

test('a list of types becomes its first that is not null, at any depth', () => {
  const given = {
    type: 'object',
    properties: { a: { type: ['null', 'string'] }, b: { items: [{ type: ['integer'] }] } },
  }
  const plain = { type: 'object', properties: { a: { type: 'string' }, b: { items: [{ type: 'integer' }] } } }
  assert.deepEqual(plainSchema(given), plain)
})

test('a property that is called type keeps its schema', () => {
  const schema = { type: 'object', properties: { type: { type: 'string' } } }
  assert.deepEqual(plainSchema(schema), schema)
})

test('a tool without parameters has an empty list of properties', () => {
  assert.deepEqual(withProperties({}), { type: 'object', properties: {} })
})
