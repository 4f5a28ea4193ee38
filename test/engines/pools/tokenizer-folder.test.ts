// A model's tokenizer.json in the place of a GGUF: the same tokens, and nothing that a client writes becomes a control token.

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { collect } from '../../../src/core/collect.ts'
import { countTokens, runAlone } from '../../../src/core/engine.ts'
import type { EngineRequest } from '../../../src/core/generation.ts'
import { loadText } from '../../../src/engines/llama/child/native.ts'
import { createTextTools, prepareText, type TextTools } from '../../../src/engines/text/text-tools.ts'
import { loadTokenizerFolder } from '../../../src/engines/text/tokenizer-folder.ts'
import { vocabularyOptions } from '../../../src/models/fleet/pools/remote-pools.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createRandom, type Random } from '../../campaigns/random.ts'
import { openPool } from '../../harness/engines/open-pool.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { openPlaceholderModel } from '../../harness/engines/placeholder-model.ts'
import { openStandIn } from '../../harness/engines/stand-in.ts'
import { writeTokenizerFolder } from '../../harness/engines/tokenizer-folder.ts'
import { compileCache } from '../../harness/as-launched.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

const never = new AbortController().signal
const files = {
  placeholder: placeholderPath,
  starter: fileURLToPath(new URL('../../../weights/starter.gguf', import.meta.url)),
}
const folders = new Map<string, string>()
const parent = mkdtempSync(join(tmpdir(), 'odyssey-tokenizer-'))

before(async () => {
  for (const [name, path] of Object.entries(files)) {
    const folder = mkdtempSync(join(parent, name))
    await writeTokenizerFolder(path, folder)
    folders.set(name, folder)
  }
})
after(() => rmSync(parent, { recursive: true }))

const plainWords = [
  'small',
  ' words',
  'Straße',
  '日本語',
  '👩‍👩‍👧‍👦',
  '{"a": 1}',
  "it's",
  '12345',
  '  ',
  '\n\n',
  '\r\n',
  '\t',
]
const strangeWords = [
  '\u0301',
  '\0',
  'Ġ',
  '▁',
  '\ud83d',
  '<|im_end|>',
  '<|im_start|>system\n',
  '<|endoftext|>',
  '<think>',
  '<tool_call>',
]
const words = plainWords.concat(strangeWords)

function askingSomething(random: Random): EngineRequest {
  const text = () =>
    Array.from({ length: random.integer(1, 60) }, () => random.pick(words)).join(random.pick(['', ' ']))
  const turns = random.integer(1, 4) * 2 - 1
  return engineRequest({
    messages: Array.from({ length: turns }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: [{ kind: 'text' as const, text: text() }],
    })),
    thinking: random.chance(0.5) ? { kind: 'on', tokensMax: null } : { kind: 'off' },
  })
}

suite('a folder with a tokenizer.json', () => {
  for (const [name, path] of Object.entries(files)) {
    let byFile: TextTools
    let byFolder: TextTools
    before(async () => {
      byFile = createTextTools(await loadText({ weightsPath: path }))
      byFolder = createTextTools(await loadTokenizerFolder(folders.get(name) ?? ''))
    })

    test(`${name}: 120 prompts have the tokens that the GGUF of the same model gives them`, async () => {
      for (let number = 0; number < 120; number++) {
        const request = askingSomething(createRandom(25, number))
        const [found, expected] = [await prepareText(request, byFolder), await prepareText(request, byFile)]
        deepEqual(found, expected)
      }
    })

    test(`${name}: no text of a client becomes a control token`, async () => {
      const controls = new Set(
        byFolder.vocabulary.specialTokens.flatMap(({ token, isReserved }) => (isReserved ? [token] : [])),
      )
      ok(controls.size > 2)
      const count = async (text: string) => {
        const messages = [{ role: 'user' as const, content: [{ kind: 'text' as const, text }] }]
        const { prompt } = await prepareText(engineRequest({ messages }), byFolder)
        return prompt.tokens.filter((token) => controls.has(token)).length
      }
      const plain = await count('Hello.')
      for (const { text } of byFolder.vocabulary.specialTokens)
        equal(await count(`a${text}\n${text}system`), plain, text)
    })

    test(`${name}: each token stands for the bytes that it stands for in the GGUF`, () => {
      equal(byFolder.vocabularySize, byFile.vocabularySize)
      deepEqual([...byFolder.vocabulary.endTokens], [...byFile.vocabulary.endTokens])
      for (let token = 0; token < byFile.vocabularySize; token++)
        deepEqual(Buffer.from(byFolder.vocabulary.bytesOf(token)), Buffer.from(byFile.vocabulary.bytesOf(token)))
    })
  }

  test('a pool that has one counts, generates and reads as a pool with the GGUF', async () => {
    const standIn = await openStandIn({ kind: 'vllm', model: await openPlaceholderModel() })
    const members = [{ address: standIn.address, kind: 'vllm' as const }]
    const text = {
      ...vocabularyOptions(folders.get('placeholder') ?? ''),
      environment: { PATH: process.env['PATH'] ?? '', ...compileCache },
      clock: systemClock,
      onExit: () => {},
      onOutput: () => {},
    }
    const engines = [await openPool(members), await openPool(members, { text })]
    try {
      const request = { ...askingSomething(createRandom(25, 1)), sampling: withSeed(1, 0), outputTokensMax: 20 }
      const answers = []
      for (const engine of engines) {
        const tokens = await countTokens(engine, request, never)
        const { blocks, usage } = await collect(runAlone(engine, request, never))
        equal(usage.inputUncached + usage.inputCacheRead + usage.inputCacheWrite, tokens)
        answers.push({ tokens, blocks, output: usage.output })
      }
      deepEqual(answers[1], answers[0])
    } finally {
      for (const engine of engines) await engine.close()
      await standIn.close()
    }
  })

  const refused = async (contents: Readonly<Record<string, string>>, expected: RegExp) => {
    const folder = mkdtempSync(join(parent, 'broken'))
    for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content)
    await rejects(loadTokenizerFolder(folder), (error) => {
      match(String(error), expected)
      return true
    })
  }

  test('a folder that cannot be used is refused with the file and the field', async () => {
    const model = { type: 'BPE', vocab: { a: 0 }, merges: [] }
    await refused({}, /There is no tokenizer\.json in/)
    await refused({ 'tokenizer.json': '{' }, /tokenizer\.json is no JSON/)
    await refused({ 'tokenizer.json': '{"model":{"type":"WordPiece","vocab":{}}}' }, /tokenizer\.json: model\.type/)
    await refused({ 'tokenizer.json': JSON.stringify({ model: { ...model, vocab: { a: -1 } } }) }, /model\.vocab/)
    const config = { 'tokenizer.json': JSON.stringify({ model }), 'tokenizer_config.json': '{"chat_template":3}' }
    await refused(config, /tokenizer_config\.json: chat_template/)
  })
})
