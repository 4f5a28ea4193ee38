import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints } from './endpoints.ts'
import { formats } from './formats.ts'

test('a key can be confined to each route of each wire format, and to the list of models', () => {
  const ofFormats = formats.flatMap(({ routes }) => routes.map(({ endpoint }) => endpoint))
  deepEqual(endpoints, [...ofFormats, 'models'])
})
