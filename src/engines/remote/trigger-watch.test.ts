import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TriggerWatch } from './trigger-watch.ts'

const tokens = ['a', '[', '.<', 'call', '>', 'x']
const reader = { bytesOf: (token: number) => Buffer.from(tokens[token] ?? '') }

/** What is found of a call in tokens, with a grammar whose root holds what Unicode takes for the end of a line. */
function watch(ids: readonly number[], grammar: string) {
  const lazy = { triggers: ['<call>'], grammar, lead: '', behindPrompt: null }
  const watching = new TriggerWatch({ lazy }, reader)
  return ids.map((id, at) => watching.feed(id, at)).find((begun) => begun !== null)
}

test('a call that began in the midst of a token goes on from before that token, the rest of it by the grammar', () => {
  const grammar = 'root ::= "\u2028<call>" [\u2028\u2029] | "b"\nb ::= "c"\n'
  const begun = watch([0, 2, 3, 4, 5], grammar)
  deepEqual(
    [begun?.at, begun?.grammar, begun?.written.toString()],
    [1, 'root ::= "." ("\u2028<call>" [\u2028\u2029] | "b")\nb ::= "c"\n', '.<call'],
  )
  equal(watch([0, 1, 3, 4], grammar), undefined)
})
