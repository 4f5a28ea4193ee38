// A model's text by the files that Hugging Face's libraries keep of it, where there is no GGUF: `tokenizer.json` with the
// vocabulary and `tokenizer_config.json` with the names of its tokens and the chat template, which newer folders
// have in a file of its own.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { NativeText, NativeVocabulary } from './vocabulary.ts'

const tokenizerFile = 'tokenizer.json'
const configFile = 'tokenizer_config.json'
const generationFile = 'generation_config.json'
const templateFile = 'chat_template.jinja'
const folderFiles = [tokenizerFile, configFile, generationFile, templateFile]

export function isTokenizerFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** What of a folder is read. Throws where there is no tokenizer in it. */
export function tokenizerFiles(folder: string): string[] {
  if (!existsSync(join(folder, tokenizerFile))) throw new Error(`There is no ${tokenizerFile} in ${folder}.`)
  return folderFiles.map((name) => join(folder, name)).filter((path) => existsSync(path))
}

const addedToken = z.looseObject({ id: z.int().min(0), content: z.string(), special: z.boolean().default(false) })

const part: z.ZodType<Part> = z.lazy(() =>
  z.looseObject({
    type: z.string(),
    pretokenizers: z.array(part).optional(),
    decoders: z.array(part).optional(),
    processors: z.array(part).optional(),
    single: z.array(z.looseObject({ SpecialToken: z.looseObject({ id: z.string() }).optional() })).optional(),
  }),
)

/** One step of making text into tokens, or several. */
type Part = {
  readonly type: string
  readonly pretokenizers?: readonly Part[] | undefined
  readonly decoders?: readonly Part[] | undefined
  readonly processors?: readonly Part[] | undefined
  readonly single?: readonly { readonly SpecialToken?: { readonly id: string } | undefined }[] | undefined
}

const tokenizerJson = z.looseObject({
  added_tokens: z.array(addedToken).default([]),
  pre_tokenizer: part.nullish(),
  post_processor: part.nullish(),
  decoder: part.nullish(),
  model: z.looseObject({
    type: z.enum(['BPE', 'Unigram']),
    vocab: z.union([z.record(z.string(), z.int().min(0)), z.array(z.tuple([z.string(), z.number()]))]),
    unk_token: z.string().nullish(),
    unk_id: z.int().nullish(),
  }),
})
type TokenizerJson = z.output<typeof tokenizerJson>

/** A token is named by its text, alone or among what else is known of it. */
const tokenName = z
  .union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)])
  .nullish()
const namedTemplates = z.array(z.looseObject({ name: z.string(), template: z.string() }))
const configJson = z.looseObject({
  bos_token: tokenName,
  eos_token: tokenName,
  add_bos_token: z.boolean().nullish(),
  chat_template: z.union([z.string(), namedTemplates]).nullish(),
})
type ConfigJson = z.output<typeof configJson>

const generationJson = z.looseObject({ eos_token_id: z.union([z.int(), z.array(z.int())]).nullish() })

/** Reads a folder with a tokenizer. Throws an error that names the file and the field that cannot be used. */
export async function loadTokenizerFolder(folder: string): Promise<NativeText> {
  tokenizerFiles(folder)
  const source = readJson(folder, tokenizerFile)
  const config = check(folder, configFile, configJson, readJson(folder, configFile))
  const generation = check(folder, generationFile, generationJson, readJson(folder, generationFile))
  const vocabulary = await openVocabulary({
    source,
    tokenizer: check(folder, tokenizerFile, tokenizerJson, source),
    config,
    endIds: [generation.eos_token_id ?? []].flat(),
  })
  return { vocabulary, vocabularySize: vocabulary.size, chatTemplate: templateOf(folder, config) }
}

function readJson(folder: string, name: string): unknown {
  const path = join(folder, name)
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} is no JSON.`, { cause: error })
  }
}

function check<Shape extends z.ZodType>(folder: string, name: string, shape: Shape, read: unknown): z.output<Shape> {
  const checked = shape.safeParse(read)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw new Error(`${join(folder, name)}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'cannot be used'}`)
}

function templateOf(folder: string, { chat_template: named }: ConfigJson): string | null {
  const path = join(folder, templateFile)
  if (existsSync(path)) return readFileSync(path, 'utf8')
  if (typeof named === 'string') return named
  return named?.find(({ name }) => name === 'default')?.template ?? named?.[0]?.template ?? null
}

/** Of the vocabulary types of llama.cpp: bytes written as characters, spaces written as U+2581, and pieces chosen for a whole text. */
const typeOf = { bytePair: 2, spacedPairs: 1, unigram: 4 } as const
const attribute = { normal: 4, unknown: 1, control: 8, userDefined: 16, byte: 32 }

/** What ends a turn in the templates of well-known models, beside the token that a folder names as the end. */
const turnEnds: ReadonlySet<string> = new Set([
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<end_of_turn>',
  '<|return|>',
  '<|call|>',
  '<EOT>',
  '[EOT]',
])

type Entry = { readonly text: string; readonly attributes: number }
type OpenedFiles = {
  readonly source: unknown
  readonly tokenizer: TokenizerJson
  readonly config: ConfigJson
  readonly endIds: readonly number[]
}

/**
 * The tokenizer in the form in which llama.cpp offers one.
 *
 * The library is not told of added tokens: it would read them in any text, a client's too. They are found in the
 * prompt, where it is known who has written them.
 */
async function openVocabulary({ source, tokenizer, config, endIds }: OpenedFiles) {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const plain = new Tokenizer({ ...(source as object), added_tokens: [] }, {})
  const reading = new Tokenizer({ ...(source as object) }, {})
  const entries = readEntries(tokenizer)
  const idOf = new Map(entries.flatMap((entry, id) => (entry === undefined ? [] : [[entry.text, id] as const])))
  const named = (text: string | null | undefined) => (text === null || text === undefined ? -1 : (idOf.get(text) ?? -1))
  const ends = new Set([...endIds, named(config.eos_token)])
  for (const { id, content, special } of tokenizer.added_tokens) if (special && turnEnds.has(content)) ends.add(id)
  const type = vocabularyType(tokenizer)
  const bos = named(config.bos_token)
  const prependsBos = bos !== -1 && (config.add_bos_token ?? beginsWith(tokenizer.post_processor, config.bos_token))
  const encode = (by: typeof plain, text: string) =>
    Uint32Array.from(by.encode(text, { add_special_tokens: false }).ids)
  return {
    size: entries.length,
    tokenize: (text, takesSpecialTokens) => encode(takesSpecialTokens ? reading : plain, text),
    detokenize: (tokens) => reading.decode([...tokens], { clean_up_tokenization_spaces: false }),
    getTokenString: (token) => entries[token]?.text ?? '',
    getTokenAttributes: (token) => entries[token]?.attributes ?? attribute.normal,
    isEogToken: (token) => ends.has(token),
    tokenBos: () => bos,
    tokenEos: () => named(config.eos_token),
    getVocabularyType: () => type,
    shouldPrependBosToken: () => prependsBos,
  } satisfies NativeVocabulary & { readonly size: number }
}

/** All tokens by their numbers; there may be numbers without one. */
function readEntries({ model, added_tokens: added }: TokenizerJson): (Entry | undefined)[] {
  const entries: (Entry | undefined)[] = []
  const known = Array.isArray(model.vocab)
    ? model.vocab.map(([text], id) => [text, id] as const)
    : Object.entries(model.vocab)
  for (const [text, id] of known) {
    const isByte = /^<0x[\dA-F]{2}>$/u.test(text)
    const isUnknown = id === model.unk_id || text === model.unk_token
    entries[id] = { text, attributes: isByte ? attribute.byte : isUnknown ? attribute.unknown : attribute.normal }
  }
  for (const { id, content, special } of added)
    entries[id] = { text: content, attributes: special ? attribute.control : attribute.userDefined }
  return Array.from(entries)
}

function vocabularyType({ model, pre_tokenizer: before, decoder }: TokenizerJson): number {
  if (model.type === 'Unigram') return typeOf.unigram
  const isByteLevel = [...partsOf(before), ...partsOf(decoder)].some(({ type }) => type === 'ByteLevel')
  return isByteLevel ? typeOf.bytePair : typeOf.spacedPairs
}

function partsOf(part: Part | null | undefined): Part[] {
  if (part === null || part === undefined) return []
  const inner = [...(part.pretokenizers ?? []), ...(part.decoders ?? []), ...(part.processors ?? [])]
  return [part, ...inner.flatMap(partsOf)]
}

/** Whether what is put around a text begins with a token. */
function beginsWith(processor: Part | null | undefined, text: string | null | undefined): boolean {
  return partsOf(processor).some(({ single }) => text !== undefined && single?.[0]?.SpecialToken?.id === text)
}
