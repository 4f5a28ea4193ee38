// Weights without a meaning in the shape of a real model: how long a step takes depends on
// the shape alone. The same shape always gives the same bytes.
//
//     random-weights.ts --out FILE [--layers N] [--embedding N] [--heads N] [--key-value-heads N]
//                                  [--feed-forward N] [--vocabulary N]

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { byteAlphabet, CONTROL_TOKENS, MARK_TOKENS } from '../scripts/placeholder/tokenizer.ts'
import { writeGguf, type MetadataValue, type Tensor } from '../scripts/placeholder/write-gguf.ts'
import { wholeNumber } from './whole-number.ts'

export type Shape = {
  readonly layers: number
  readonly embedding: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly feedForward: number
  /** How many tokens there are. */
  readonly vocabulary: number
}

/** Widths and vocabulary of Qwen2.5-0.5B with 14 of its 24 layers, which keeps the file below 700 MB. */
export const halfBillion: Shape = {
  layers: 14,
  embedding: 896,
  heads: 14,
  keyValueHeads: 2,
  feedForward: 4_864,
  vocabulary: 151_936,
}

/** llama.cpp's numbers for kinds of tokens. */
const tokenType = { normal: 1, control: 3, userDefined: 4 }

type Tokens = { readonly texts: readonly string[]; readonly types: readonly number[] }

/** Every byte is a token, so that any prompt can be read; what is left of the vocabulary are words of Latin letters. */
function makeTokens(vocabulary: number): Tokens {
  const wordCount = vocabulary - byteAlphabet.length - CONTROL_TOKENS.length - MARK_TOKENS.length
  if (wordCount < letters.length) throw new Error(`A vocabulary of ${vocabulary} tokens is too small.`)
  const words = Array.from({ length: wordCount }, (_, number) => space + spell(number))
  return {
    texts: [...byteAlphabet, ...words, ...CONTROL_TOKENS, ...MARK_TOKENS],
    types: [
      ...Array.from({ length: byteAlphabet.length + words.length }, () => tokenType.normal),
      ...CONTROL_TOKENS.map(() => tokenType.control),
      ...MARK_TOKENS.map(() => tokenType.userDefined),
    ],
  }
}

const space = byteAlphabet[0x20]!
const letters = [...'abcdefghijklmnopqrstuvwxyz']

/** Numbers words like the columns of a table: a to z, then aa, ab and so on. */
function spell(number: number): string {
  const before = number < letters.length ? '' : spell(Math.floor(number / letters.length) - 1)
  return before + letters[number % letters.length]!
}

function describe(shape: Shape): Map<string, MetadataValue> {
  const { texts, types } = makeTokens(shape.vocabulary)
  const text = (value: string): MetadataValue => ({ type: 'string', value })
  const integer = (value: number): MetadataValue => ({ type: 'uint32', value })
  const idOf = (token: (typeof CONTROL_TOKENS)[number]) => integer(texts.indexOf(token))
  const template = readFileSync(new URL('../scripts/placeholder/template.jinja', import.meta.url), 'utf8')
  return new Map([
    ['general.architecture', text('llama')],
    ['general.name', text('random weights')],
    // The code for tensors that are mostly of half precision.
    ['general.file_type', integer(1)],
    ['llama.context_length', integer(32_768)],
    ['llama.embedding_length', integer(shape.embedding)],
    ['llama.block_count', integer(shape.layers)],
    ['llama.feed_forward_length', integer(shape.feedForward)],
    ['llama.attention.head_count', integer(shape.heads)],
    ['llama.attention.head_count_kv', integer(shape.keyValueHeads)],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-6 }],
    ['llama.rope.dimension_count', integer(shape.embedding / shape.heads)],
    ['llama.rope.freq_base', { type: 'float32', value: 1_000_000 }],
    ['llama.vocab_size', integer(shape.vocabulary)],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('qwen2')],
    ['tokenizer.ggml.tokens', { type: 'string[]', value: texts }],
    ['tokenizer.ggml.token_type', { type: 'int32[]', value: types }],
    // llama.cpp refuses a vocabulary of this kind without merges; these make the words of one letter.
    ['tokenizer.ggml.merges', { type: 'string[]', value: letters.map((letter) => `${space} ${letter}`) }],
    ['tokenizer.ggml.bos_token_id', idOf('<|endoftext|>')],
    ['tokenizer.ggml.eos_token_id', idOf('<|im_end|>')],
    ['tokenizer.ggml.padding_token_id', idOf('<|endoftext|>')],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.chat_template', text(template.replaceAll('\r\n', '\n'))],
  ])
}

/** Sums over a row then stay near one for the widths of real models, so nothing grows from layer to layer. */
const weightMax = 0.07

/** Evenly spread numbers; integer arithmetic alone, so they are the same everywhere. */
function randomNumbers(count: number): Float32Array {
  const numbers = new Float32Array(count)
  let state = 20_250_101
  for (let index = 0; index < count; index++) {
    // xorshift32 by Marsaglia.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    numbers[index] = (state / 2 ** 31) * weightMax
  }
  return numbers
}

/** The output layer is the embedding, as in real models of up to about a billion numbers. */
function makeTensors({ layers, embedding, heads, keyValueHeads, feedForward, vocabulary }: Shape): Tensor[] {
  const keyValueWidth = (embedding / heads) * keyValueHeads
  // All tensors are stretches of one list: that they repeat each other costs no time and saves memory.
  const numbers = randomNumbers(embedding * Math.max(vocabulary, feedForward))
  let start = 0
  const matrix = (name: string, columns: number, rows: number): Tensor => {
    const length = columns * rows
    if (start + length > numbers.length) start = 0
    const data = numbers.subarray(start, start + length)
    start += length
    return { name: `${name}.weight`, type: 'f16', shape: [columns, rows], data }
  }
  const ones = (name: string): Tensor => {
    return { name: `${name}.weight`, type: 'f32', shape: [embedding], data: new Float32Array(embedding).fill(1) }
  }
  const blocks = Array.from({ length: layers }, (_, layer) => [
    ones(`blk.${layer}.attn_norm`),
    matrix(`blk.${layer}.attn_q`, embedding, embedding),
    matrix(`blk.${layer}.attn_k`, embedding, keyValueWidth),
    matrix(`blk.${layer}.attn_v`, embedding, keyValueWidth),
    matrix(`blk.${layer}.attn_output`, embedding, embedding),
    ones(`blk.${layer}.ffn_norm`),
    matrix(`blk.${layer}.ffn_gate`, embedding, feedForward),
    matrix(`blk.${layer}.ffn_up`, embedding, feedForward),
    matrix(`blk.${layer}.ffn_down`, feedForward, embedding),
  ])
  return [matrix('token_embd', embedding, vocabulary), ...blocks.flat(), ones('output_norm')]
}

/** Writes the file and returns its size. Meanwhile it takes almost three times that much memory. */
export function writeRandomWeights(path: string, shape: Shape): number {
  const { embedding, heads, keyValueHeads } = shape
  if (embedding % (2 * heads) !== 0) throw new Error(`${embedding} is no even length for each of ${heads} heads.`)
  if (heads % keyValueHeads !== 0) throw new Error(`${heads} heads cannot share ${keyValueHeads}.`)
  const file = writeGguf(describe(shape), makeTensors(shape))
  writeFileSync(path, file)
  return file.length
}

if (import.meta.main) {
  const type = 'string'
  const shapeOptions = { layers: { type }, embedding: { type }, heads: { type }, vocabulary: { type } } as const
  const { values } = parseArgs({
    options: { ...shapeOptions, out: { type }, 'key-value-heads': { type }, 'feed-forward': { type } },
  })
  if (values.out === undefined) throw new Error('--out takes the path of the file to write.')
  const size = writeRandomWeights(values.out, {
    layers: wholeNumber('layers', values.layers, halfBillion.layers),
    embedding: wholeNumber('embedding', values.embedding, halfBillion.embedding),
    heads: wholeNumber('heads', values.heads, halfBillion.heads),
    keyValueHeads: wholeNumber('key-value-heads', values['key-value-heads'], halfBillion.keyValueHeads),
    feedForward: wholeNumber('feed-forward', values['feed-forward'], halfBillion.feedForward),
    vocabulary: wholeNumber('vocabulary', values.vocabulary, halfBillion.vocabulary),
  })
  console.log(`${values.out}: ${Math.round(size / 1e6)} MB`)
}
