// A text that was tokenized before is found again, and nobody could tell by its tokens.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fastCheck from 'fast-check'
import type { PromptPiece } from '../../../src/chat-format/control-tokens.ts'
import type { Message } from '../../../src/core/generation.ts'
import { loadText } from '../../../src/engines/llama/child/native.ts'
import { PieceMemory } from '../../../src/engines/text/prompt/piece-memory.ts'
import { tokenizePieces } from '../../../src/engines/text/prompt/prompt-tokens.ts'
import { countPrompt, createTextTools, type TextTools } from '../../../src/engines/text/text-tools.ts'
import { createVocabulary, type NativeText, type Vocabulary } from '../../../src/engines/text/vocabulary.ts'
import { engineRequest } from '../../harness/requests.ts'

const weightsPath = fileURLToPath(new URL('../../../weights/starter.gguf', import.meta.url))

let native: NativeText
let vocabulary: Vocabulary
before(async () => {
  native = await loadText({ weightsPath })
  vocabulary = createVocabulary(native.vocabulary, { size: native.vocabularySize, markup: [], templateSource: '' })
})

/** As some vocabularies do, it puts a space in front of a text, unless the text follows another one. */
const spacing = (): Vocabulary => ({
  ...vocabulary,
  tokenize: (text) => (text === '' ? new Uint32Array() : vocabulary.tokenize(` ${text}`)),
  tokenizeFollowing: (text) => vocabulary.tokenize(text),
})

const words = [
  'tokenization',
  ' of',
  ' the',
  ' words',
  '  ',
  '\n\n',
  'e',
  'es',
  '123',
  '4',
  ' é',
  'ü',
  '漢',
  '👩‍👩‍👧',
  '\ud83d',
  '\udc69',
  '\0',
]
const text = fastCheck.array(fastCheck.constantFrom(...words), { maxLength: 60 }).map((some) => some.join(''))

/** The same text cut in several places: each piece is tokenized by itself, though the text on both sides would merge. */
const pieces = fastCheck.array(
  fastCheck.oneof(
    { weight: 1, arbitrary: fastCheck.constant<PromptPiece>({ kind: 'special', token: 0 }) },
    { weight: 4, arbitrary: text.map((its): PromptPiece => ({ kind: 'text', text: its })) },
  ),
  { maxLength: 12 },
)

/** A conversation, what of it is sent again, and where it is cut then. */
const sends = fastCheck.array(
  fastCheck.record({ pieces, cutAt: fastCheck.nat(200), again: fastCheck.nat(3), organization: fastCheck.nat(1) }),
  { minLength: 1, maxLength: 8 },
)

function cutAnew(all: readonly PromptPiece[], at: number): PromptPiece[] {
  let before = 0
  return all.flatMap((piece): PromptPiece[] => {
    if (piece.kind === 'special') return [piece]
    const place = at - before
    before += piece.text.length
    if (place <= 0 || place >= piece.text.length) return [piece]
    return [piece.text.slice(0, place), piece.text.slice(place)].map((its) => ({ kind: 'text', text: its }))
  })
}

suite('a vocabulary that remembers', () => {
  for (const [name, open] of Object.entries({ 'byte pairs': () => vocabulary, 'a space in front': spacing }))
    for (const bytesMax of [2 ** 20, 1_500])
      test(`${name}, ${bytesMax} bytes: gives the tokens of one that does not, however a text is cut`, async () => {
        const memory = new PieceMemory(bytesMax)
        const plain = open()
        const check = async (some: readonly PromptPiece[], organization: number) => {
          const remembering = memory.remembering(plain, `org_${organization}`)
          const [found, made] = [await tokenizePieces(some, remembering), await tokenizePieces(some, plain)]
          deepEqual(found.tokens, made.tokens)
          const places = [0, 3, 50, 500]
          deepEqual(found.tokensUpTo(places), made.tokensUpTo(places))
          ok(memory.bytes <= bytesMax)
        }
        const property = fastCheck.asyncProperty(sends, async (all) => {
          for (const { pieces: some, cutAt, again, organization } of all) {
            for (let time = 0; time <= again; time++) await check(some, organization)
            await check(cutAnew(some, cutAt), organization)
          }
        })
        await fastCheck.assert(property, { numRuns: 200, seed: 20_261_125 })
      })
})

function countingTools(memory: PieceMemory): { readonly tools: TextTools; characters(): number } {
  let characters = 0
  const counting = new Proxy(native.vocabulary, {
    get: (its, name) => {
      const member: unknown = Reflect.get(its, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        if (name === 'tokenize') characters += String(given[0]).length
        return Reflect.apply(member, its, given)
      }
    },
  })
  const tools = createTextTools({ ...native, vocabulary: counting }, null, memory)
  return {
    tools,
    characters() {
      const since = characters
      characters = 0
      return since
    },
  }
}

const turn = (number: number): Message => {
  const text = `Turn ${number}: ${'some words to read on, '.repeat(40)}`
  return { role: number % 2 === 0 ? 'user' : 'assistant', content: [{ kind: 'text', text }] }
}
const conversation = (turns: number, organizationId: string) =>
  engineRequest({
    messages: Array.from({ length: turns }, (_, index) => turn(index)),
    owner: { organizationId, apiKeyId: 'key_test' },
  })

test('a conversation that is sent again with one more turn costs the tokenizer that turn, and another organization all of it', async () => {
  const { tools, characters } = countingTools(new PieceMemory(2 ** 20))
  const count = async (turns: number, organizationId: string) => {
    characters()
    const tokens = await countPrompt(conversation(turns, organizationId), tools, async () => {})
    return { tokens, characters: characters() }
  }
  const first = await count(41, 'org_one')
  const again = await count(43, 'org_one')
  const other = await count(41, 'org_other')
  ok(first.characters > 30_000, String(first.characters))
  ok(again.characters < 3_000, String(again.characters))
  equal(other.characters, first.characters)
  equal(other.tokens, first.tokens)
})
