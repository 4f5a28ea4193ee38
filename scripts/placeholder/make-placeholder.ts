// Makes the small model that most tests run on: `node scripts/placeholder/make-placeholder.ts`
// writes it with its checksum to `test/fixtures/weights`. The same sources always give the same bytes.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

import { bigramWeights, shape } from './bigram-weights.ts'
import { trainTokenizer } from './tokenizer.ts'
import { answers, promptWords, thoughts } from './training-text.ts'
import { type MetadataValue, writeGguf } from './write-gguf.ts'

export const modelFile = new URL('../../test/fixtures/weights/placeholder.gguf', import.meta.url)
export const checksumFile = new URL('../../test/fixtures/weights/placeholder.sha256', import.meta.url)

const text = (value: string): MetadataValue => ({ type: 'string', value })
const integer = (value: number): MetadataValue => ({ type: 'uint32', value })
const real = (value: number): MetadataValue => ({ type: 'float32', value })

export const placeholderTemplate = (): string =>
  readFileSync(new URL('template.jinja', import.meta.url), 'utf8').replaceAll('\r\n', '\n')

export const makePlaceholder = (template = placeholderTemplate()): { model: Buffer; checksum: string } => {
  // Every text is learned with the line breaks that surround it in a prompt.
  const tokenizer = trainTokenizer([
    ...thoughts.map((thought) => `\n${thought}...\n`),
    ...answers.map((answer) => `\n\n${answer}`),
    ...promptWords.split(' ').flatMap((word) => [word, ` ${word}`]),
  ])
  const metadata = new Map<string, MetadataValue>([
    ['general.architecture', text('llama')],
    ['general.type', text('model')],
    ['general.name', text('placeholder')],
    // The code for tensors that are mostly of half precision.
    ['general.file_type', integer(1)],
    ['llama.context_length', integer(32768)],
    ['llama.embedding_length', integer(shape.embedding)],
    ['llama.block_count', integer(shape.layers)],
    ['llama.feed_forward_length', integer(shape.feedForward)],
    ['llama.attention.head_count', integer(shape.heads)],
    ['llama.attention.head_count_kv', integer(shape.keyValueHeads)],
    ['llama.attention.layer_norm_rms_epsilon', real(1e-6)],
    ['llama.rope.dimension_count', integer(shape.headLength)],
    ['llama.rope.freq_base', real(1_000_000)],
    ['llama.vocab_size', integer(tokenizer.tokens.length)],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('qwen2')],
    ['tokenizer.ggml.tokens', { type: 'string[]', value: tokenizer.tokens }],
    ['tokenizer.ggml.token_type', { type: 'int32[]', value: tokenizer.types }],
    ['tokenizer.ggml.merges', { type: 'string[]', value: tokenizer.merges }],
    ['tokenizer.ggml.bos_token_id', integer(tokenizer.idOf('<|endoftext|>'))],
    ['tokenizer.ggml.eos_token_id', integer(tokenizer.idOf('<|im_end|>'))],
    ['tokenizer.ggml.padding_token_id', integer(tokenizer.idOf('<|endoftext|>'))],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.chat_template', text(template)],
  ])
  const model = writeGguf(metadata, bigramWeights(tokenizer))
  return { model, checksum: createHash('sha256').update(model).digest('hex') }
}

if (import.meta.main) {
  const { model, checksum } = makePlaceholder()
  mkdirSync(new URL('.', modelFile), { recursive: true })
  writeFileSync(modelFile, model)
  writeFileSync(checksumFile, `${checksum}  placeholder.gguf\n`)
  console.log(`placeholder.gguf: ${model.length} bytes, sha256 ${checksum}`)
}
