import { readFileSync } from 'node:fs'
import { byteAlphabet, CONTROL_TOKENS, MARK_TOKENS } from '../../scripts/placeholder/tokenizer.ts'
import type { MetadataValue } from '../../scripts/placeholder/write-gguf.ts'
import type { Shape } from './shapes.ts'
import type { WeightType } from './tensors.ts'

export type Metadata = ReadonlyMap<string, MetadataValue>

/** llama.cpp's numbers for kinds of tokens. */
const tokenType = { normal: 1, control: 3, userDefined: 4 }
/** llama.cpp's numbers for what most of a file's tensors are. */
const fileType: Readonly<Record<WeightType, number>> = { f16: 1, q4_0: 2 }

/** All that a file says of itself: the shape, a vocabulary, and the placeholder's chat template. */
export function describeModel(shape: Shape, type: WeightType): Metadata {
  return new Map([
    ['general.architecture', text(shape.architecture)],
    ['general.name', text('random weights')],
    ['general.file_type', integer(fileType[type])],
    // How llama.cpp lays out quantized numbers today; it refuses none, but warns where this is missing.
    ['general.quantization_version', integer(2)],
    ...describeShape(shape),
    ...describeTokens(shape.vocabulary),
  ])
}

function describeShape(shape: Shape): [string, MetadataValue][] {
  const entries: Record<string, MetadataValue> = {
    context_length: integer(shape.windowTokens ?? 40_960),
    embedding_length: integer(shape.embedding),
    block_count: integer(shape.layers),
    feed_forward_length: integer(shape.feedForward),
    'attention.head_count': integer(shape.heads),
    'attention.head_count_kv': integer(shape.keyValueHeads),
    'attention.key_length': integer(shape.headLength),
    'attention.value_length': integer(shape.headLength),
    'attention.layer_norm_rms_epsilon': { type: 'float32', value: 1e-6 },
    'rope.dimension_count': integer(shape.headLength),
    'rope.freq_base': { type: 'float32', value: 1_000_000 },
    vocab_size: integer(shape.vocabulary),
  }
  return Object.entries(entries).map(([key, value]) => [`${shape.architecture}.${key}`, value])
}

function describeTokens(vocabulary: number): [string, MetadataValue][] {
  const { texts, types } = makeTokens(vocabulary)
  const idOf = (token: (typeof CONTROL_TOKENS)[number]) => integer(texts.indexOf(token))
  const template = readFileSync(new URL('../../scripts/placeholder/template.jinja', import.meta.url), 'utf8')
  return [
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
  ]
}

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

function text(value: string): MetadataValue {
  return { type: 'string', value }
}

function integer(value: number): MetadataValue {
  return { type: 'uint32', value }
}
