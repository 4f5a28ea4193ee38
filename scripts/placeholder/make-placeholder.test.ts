import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'

import { Template } from '@huggingface/jinja'
import { getLlama, type Llama, type LlamaContextSequence, LlamaLogLevel, type LlamaModel } from 'node-llama-cpp'

import { checksumFile, makePlaceholder, modelFile } from './make-placeholder.ts'
import { byteAlphabet, CONTROL_TOKENS, MARK_TOKENS } from './tokenizer.ts'

const template = new Template(readFileSync(new URL('template.jinja', import.meta.url), 'utf8'))
const render = (messages: readonly object[], rest: object = {}): string => template.render({ messages, ...rest })
const ask = (question: string, thinking: boolean): string =>
  render([{ role: 'user', content: question }], { add_generation_prompt: true, enable_thinking: thinking })

test('making it again gives the bytes of the file', () => {
  const { model, checksum } = makePlaceholder()
  assert.ok(model.equals(readFileSync(modelFile)))
  assert.equal(readFileSync(checksumFile, 'utf8'), `${checksum}  placeholder.gguf\n`)
  assert.ok(model.length < 1_500_000)
})

describe('template', () => {
  const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }
  const call = {
    role: 'assistant',
    content: '',
    reasoning_content: 'Look.',
    tool_calls: [{ function: { name: 'weather', arguments: { city: 'Ulm' } } }],
  }
  const called = '<tool_call>\n{"name": "weather", "arguments": {"city": "Ulm"}}\n</tool_call><|im_end|>\n'
  const result = { role: 'tool', content: 'Sunny' }

  test('opens or closes the thinking at the end of the prompt', () => {
    assert.equal(ask('Hi', true), '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n')
    assert.equal(ask('Hi', false), '<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n')
  })

  test('keeps thoughts only after the last question', () => {
    const before = [{ role: 'user', content: 'Weather?' }, call]
    const open = `<|im_start|>user\nWeather?<|im_end|>\n<|im_start|>assistant\n<think>\nLook.\n</think>\n\n${called}`
    const response = '<tool_response>\nSunny\n</tool_response>'
    assert.equal(render([...before, result]), `${open}<|im_start|>user\n${response}<|im_end|>\n`)
    assert.equal(render([...before, result, result]), `${open}<|im_start|>user\n${response}\n${response}<|im_end|>\n`)
    const later = render([...before, result, { role: 'user', content: [{ type: 'text', text: 'Thanks' }] }])
    assert.ok(later.includes(`<|im_start|>assistant\n${called}`))
    assert.ok(later.endsWith('<|im_start|>user\nThanks<|im_end|>\n'))
  })

  test('lists tools behind the system message', () => {
    const prompt = render([{ role: 'system', content: 'Be kind.' }], { tools: [weather] })
    assert.ok(prompt.startsWith('<|im_start|>system\nBe kind.\n\n'))
    assert.ok(
      prompt.includes(`\n<tools>\n${template.render({ messages: [], tools: [weather] }).split('\n')[3]}\n</tools>\n`),
    )
    assert.deepEqual(JSON.parse(prompt.split('\n').find((line) => line.startsWith('{"type"'))!), weather)
  })
})

describe('model', () => {
  let llama: Llama
  let model: LlamaModel
  let sequence: LlamaContextSequence

  before(async () => {
    llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error })
    model = await llama.loadModel({ modelPath: fileURLToPath(modelFile) })
    // One thread is the fastest for matrices this small.
    sequence = (await model.createContext({ contextSize: 2048, threads: 1 })).getSequence()
  })
  after(() => llama.dispose())

  const generate = async (prompt: string, limit: number, temperature: number, seed = 0) => {
    await sequence.clearHistory()
    const generated = []
    const options = { temperature, topK: 0, topP: 1, minP: 0, seed }
    for await (const token of sequence.evaluate(model.tokenize(prompt, true), options)) {
      generated.push(token)
      if (generated.length > limit) break
    }
    return { text: model.detokenize(generated, true), ended: generated.length <= limit }
  }

  test('describes itself without the name of anything else', () => {
    assert.equal(model.trainContextSize, 32768)
    assert.deepEqual(
      { ...model.fileInfo.metadata.general },
      { alignment: 32, architecture: 'llama', type: 'model', name: 'placeholder', file_type: 1 },
    )
    assert.equal(model.tokens.eosString, '<|im_end|>')
    assert.equal(model.tokens.shouldPrependBosToken, false)
  })

  test('has a token for every byte and a single one for every mark', () => {
    const { tokens } = model.fileInfo.metadata.tokenizer.ggml
    for (const character of byteAlphabet) assert.ok(tokens.includes(character))
    for (const mark of [...CONTROL_TOKENS, ...MARK_TOKENS]) assert.equal(model.tokenize(mark, true).length, 1, mark)
    for (const mark of MARK_TOKENS) assert.equal(model.tokenize(mark).length, 1, mark)
    for (const mark of CONTROL_TOKENS) assert.ok(model.tokenize(mark).length > 1, mark)
    for (const word of ['\n', '\n\n', 'assistant', ' placeholder', '...\n'])
      assert.equal(model.tokenize(word).length, 1)
  })

  test('gives back any text it is given', () => {
    const everyCharacter = Array.from({ length: 0x800 }, (_, code) => String.fromCodePoint(code))
    const leads = Array.from({ length: 0x110 }, (_, plane) => String.fromCodePoint(plane * 0x1000 + 0x7ff))
    const planes = leads.filter((character) => character.isWellFormed())
    const texts = [
      everyCharacter.join(''),
      everyCharacter.toReversed().join(''),
      planes.join(''),
      '👩‍👩‍👧‍👦 🇩🇪 ✋🏽',
      '日本語と中文 한국어',
    ]
    texts.push(
      '  leading\t\t and trailing  \n\r\n \u00a0',
      'مرحبا नमस्ते e\u0301',
      "don't I'LL ſ 'ſ",
      '<|im_end|> <think>',
      '1234 ½ Ⅷ',
    )
    for (const text of texts) assert.equal(model.detokenize(model.tokenize(text), false), text)
  })

  test('greedy answers end in both modes, whatever was asked', async () => {
    const questions = ['Hello', 'What is 2 + 2?', '日本 🎉', '', 'The placeholder model', 'word '.repeat(300)]
    const texts = new Set<string>()
    for (const question of questions) {
      const thinking = await generate(ask(question, true), 200, 0)
      const answer = await generate(ask(question, false), 200, 0)
      assert.ok(thinking.ended && answer.ended, question)
      assert.match(thinking.text, /^[^<>]+\.\.\.\n<\/think>\n\n[^<>]+\.\)?$/)
      assert.match(answer.text, /^[^<>]+\.\)?$/)
      texts.add(thinking.text).add(answer.text)
    }
    // What was asked shades how an answer begins, so a mixed-up cache shows even without chance.
    assert.ok(texts.size >= 4)
  })

  test('sampled answers end by themselves and differ', async () => {
    for (const thinking of [true, false]) {
      const answers = []
      for (let seed = 1; seed <= 20; seed++) answers.push(await generate(ask('Hello', thinking), 300, 1, seed))
      assert.ok(answers.filter(({ ended }) => ended).length >= 18)
      assert.ok(new Set(answers.map(({ text }) => text)).size >= 10)
      assert.deepEqual(await generate(ask('Hello', thinking), 300, 1, 7), answers[6])
    }
  })

  test('every earlier word shades what comes next', async () => {
    const odds = async (prompt: string): Promise<number[]> => {
      await sequence.clearHistory()
      const tokens = model.tokenize(prompt, true)
      for await (const step of sequence.evaluateWithMetadata(tokens, { probabilities: true }, { temperature: 1 })) {
        return [...step.probabilities].toSorted(([a], [b]) => a - b).map(([, probability]) => probability)
      }
      return []
    }
    const filler = ' and so on'.repeat(100)
    const first = await odds(ask(`One${filler}`, true))
    assert.deepEqual(await odds(ask(`One${filler}`, true)), first)
    const second = await odds(ask(`Two${filler}`, true))
    assert.ok(Math.max(...first.map((probability, index) => Math.abs(probability - second[index]!))) > 1e-4)
  })

  test('finds back from text it never learned', async () => {
    for (const text of ['zzz qqq', '日本', '🎉', '{"a": ', 'The', '<tool_call>']) {
      assert.ok((await generate(text, 300, 1, 1)).ended, text)
    }
  })
})
