import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readGgufFileInfo } from 'node-llama-cpp'

/** What GGUF files call `qwen2`: how a text is cut into words before its characters are merged. */
const wordPattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

const tokenType = { control: 3, userDefined: 4 }

/** Writes the vocabulary and the template of a GGUF as the files that Hugging Face's libraries keep of them. */
export async function writeTokenizerFolder(ggufPath: string, folder: string): Promise<void> {
  const { metadata } = await readGgufFileInfo(ggufPath)
  const { ggml, chat_template: template } = metadata.tokenizer
  const tokens = [...(ggml.tokens ?? [])]
  const types = [...(ggml.token_type ?? [])]
  const isAdded = (id: number) => types[id] === tokenType.control || types[id] === tokenType.userDefined
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false }
  const words = { type: 'Split', pattern: { Regex: wordPattern }, behavior: 'Isolated', invert: false }
  const tokenizer = {
    version: '1.0',
    added_tokens: tokens.flatMap((content, id) =>
      isAdded(id) ? [{ id, content, special: types[id] === tokenType.control, normalized: false }] : [],
    ),
    normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [words, byteLevel] },
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(tokens.map((text, id) => [text, id])),
      merges: [...(ggml.merges ?? [])],
    },
  }
  const config = {
    bos_token: tokens[Number(ggml.bos_token_id)],
    eos_token: { content: tokens[Number(ggml.eos_token_id)] },
    add_bos_token: false,
    chat_template: template,
  }
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer))
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config))
}
