import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { engineRequest } from '../../../test/harness/requests.ts'
import { TableReader, type ModelText } from '../text/model-text.ts'
import { AnswerCourse, type Turn } from './answer-course.ts'

const json = { kind: 'json', schema: null, schemaPath: [], isStrict: false } as const
const inputTokens = 2

/** A course under a grammar whose tokens are the given bytes; the last of them ends the answer. */
function courseOf(pieces: readonly (string | Uint8Array)[], windowTokens = 1_000) {
  const bytes = [...pieces, ''].map((piece) => Buffer.from(piece as string))
  let end = 0
  const ends = Uint32Array.from(bytes, ({ length }) => (end += length))
  const vocabulary = { bytes: Buffer.concat(bytes), ends, endTokens: [pieces.length], specials: [], tokenBytesMax: 8 }
  const none = new Uint32Array()
  const model: ModelText = {
    vocabulary,
    tags: null,
    toolFormat: null,
    tools: 'none',
    closeThinkingTokens: none,
    gapTokens: none,
  }
  let text = ''
  const prompt = { thinks: false, startsThinking: false, breakpoints: [], conversationLength: inputTokens, blocks: [] }
  const free = { lazy: null, readsCalls: false, isCallsOnly: false, banned: [], unenforced: [] }
  const course = new AnswerCourse({
    request: engineRequest({ output: json }),
    text: { prompt: { tokens: Uint32Array.of(1, 1), ...prompt }, plan: { forced: 'root ::= "x"', ...free } },
    model,
    reader: new TableReader(vocabulary),
    windowTokens,
    outputTokensMax: 100,
    seed: 1,
    emit: (event) => {
      if (event.type === 'delta') text += event.text
    },
  })
  /** Has a leg bring tokens; returns what becomes of the answer after the last of them. */
  const bring = (ids: readonly number[]): Turn | undefined => {
    course.leg()
    course.start()
    return ids.map((id) => course.take(id, null)).at(-1)
  }
  return { course, bring, text: () => text }
}

test('an answer that is written once more in more tokens than before ends where the window does', () => {
  const { course, bring, text } = courseOf(['[1,2', '[', '1', ',', '2', ',3'], inputTokens + 5)
  bring([0])
  course.rewind()
  bring([1, 2, 3, 4, 5])
  deepEqual(course.legEnded({ kind: 'limit' }), { kind: 'ends', reason: { kind: 'window' }, isEnginesEnd: true })
  course.finish({ kind: 'window' })
  deepEqual([text(), course.outputTokens], ['[1,2,3', 2])
})

test('an answer that is written once more in other tokens has its characters whole, wherever a token ends within one', () => {
  const pieces = ['{"a":"', ' ', Buffer.from([0x20, 0xe2, 0x80]), Buffer.from([0x9c]), 'x"}']
  const end = pieces.length
  for (const lost of [[0], [0, 1], [0, 2], [0, 2, 3]]) {
    const { course, bring, text } = courseOf(pieces)
    bring(lost)
    course.rewind()
    bring([0, 2, 3, 4, end])
    course.finish({ kind: 'end' })
    deepEqual(text(), '{"a":" “x"}', `after ${lost.join()}`)
  }
})
