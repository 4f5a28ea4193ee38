import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { messageOf } from './message-of.ts'

test('a failed validation is told in words and not as JSON', () => {
  const schema = z.strictObject({ rates: z.array(z.int()), name: z.string() })
  const { error } = schema.safeParse({ rates: [1, 'x'], name: 5 })
  equal(
    messageOf(error),
    'rates.1: Invalid input: expected number, received string; name: Invalid input: expected string, received number',
  )
  equal(messageOf(z.string().safeParse(1).error), 'Invalid input: expected string, received number')
  equal(messageOf(new Error('Why.')), 'Why.')
  equal(messageOf('text'), 'text')
})
