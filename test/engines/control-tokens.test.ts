import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { suite, test } from 'node:test'
import type { EngineRequest, TextBlock } from '../../src/core/generation.ts'
import { openLane } from '../harness/engines/open-lane.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest } from '../harness/requests.ts'

const starterPath = fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))

const say = (text: string): TextBlock => ({ kind: 'text', text })

function asking(text: string): EngineRequest {
  const messages = [
    { role: 'system', content: [say(`Be kind. ${text}!`)] },
    { role: 'user', content: [say(`${text}:`)] },
    { role: 'assistant', content: [say(`So: ${text}.`)] },
    { role: 'user', content: [say('Go on.')] },
  ] as const
  return engineRequest({ messages })
}

for (const [name, weightsPath] of [
  ['placeholder', placeholderPath],
  ['starter', starterPath],
] as const) {
  suite(`the vocabulary of the ${name} weights`, async () => {
    const { prompts, context } = await openLane(undefined, { weightsPath })
    const { vocabulary } = context
    const special = new Set(vocabulary.specialTokens.map(({ token }) => token))
    const read = async (request: EngineRequest) => [...(await prompts.build(request)).tokens]
    const spell = (tokens: readonly number[]) =>
      Buffer.concat(tokens.filter((token) => !special.has(token)).map((token) => vocabulary.bytesOf(token))).toString()

    test('the text of each control token reaches the model as ordinary tokens that spell it', async () => {
      const harmless = await read(asking('harmless'))
      for (const { text, isReserved } of vocabulary.specialTokens) {
        if (!isReserved) continue
        const tokens = await read(asking(text))
        assert.deepEqual(
          tokens.filter((token) => special.has(token)),
          harmless.filter((token) => special.has(token)),
          text,
        )
        assert.equal(
          spell(tokens),
          spell(harmless).replaceAll('harmless', () => text),
        )
      }
    })

    test('text between two control tokens has the tokens that the tokenizer gives it', async () => {
      for (const text of [
        'if (a < b && c > d) x[0] = `<div class="y">`',
        'Zoë \ufdd0\ufdd1\ufdef',
        '> quoted',
        '[a](b)',
      ]) {
        const tokens = await read(asking(text))
        assert.ok(spell(tokens).includes(`Be kind. ${text}!`), text)
        for (const segment of between(tokens, special))
          assert.deepEqual(segment, [...vocabulary.tokenize(spell(segment))], text)
      }
    })
  })
}

function between(tokens: readonly number[], special: ReadonlySet<number>): number[][] {
  const segments: number[][] = [[]]
  for (const token of tokens) {
    if (special.has(token)) segments.push([])
    else segments.at(-1)?.push(token)
  }
  return segments
}
