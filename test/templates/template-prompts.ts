import type { EngineRequest } from '../../src/core/generation.ts'
import { createPromptBuilder } from '../../src/engines/text/prompt/prompt-builder.ts'
import type { Vocabulary } from '../../src/engines/text/vocabulary.ts'
import { compileChatTemplate } from '../../src/chat-format/chat-template.ts'
import type { SpecialToken } from '../../src/chat-format/control-tokens.ts'
import { probeTemplate } from '../../src/chat-format/probe-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { engineRequest } from '../harness/requests.ts'

/** What a model would be given: special tokens between `\u0001` and `\u0002`, all others as the characters they stand for. */
export type ReadPrompt = { readonly shown: string; readonly specials: readonly string[] }

export interface TemplatePrompts {
  /** Tokens that no client may write. */
  readonly reserved: readonly string[]
  read(request: EngineRequest): Promise<ReadPrompt>
}

export async function openTemplatePrompts(source: string): Promise<TemplatePrompts> {
  const template = compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' })
  const toolFormat = deriveToolFormat(template.probe)
  const vocabulary = createGreedyVocabulary(source)
  // Prompts are compared with one another, between which the clock must not move on.
  const standing = { ...template, render: template.probe }
  const prompts = createPromptBuilder({ template: standing, traits: probeTemplate(template), toolFormat, vocabulary })
  const names = new Map(vocabulary.specialTokens.map(({ token, text }) => [token, text]))
  const read = async (request: EngineRequest): Promise<ReadPrompt> => {
    const tokens = [...(await prompts.build(request)).tokens]
    const parts: Buffer[] = []
    for (const token of tokens) {
      const name = names.get(token)
      parts.push(name === undefined ? Buffer.of(token) : Buffer.from(`\u0001${name}\u0002`))
    }
    return { shown: Buffer.concat(parts).toString(), specials: tokens.flatMap((token) => names.get(token) ?? []) }
  }
  const plain = await read(engineRequest()).then(
    ({ specials }) => [...specials],
    (): string[] => [],
  )
  const written = vocabulary.specialTokens.filter(({ text, isReserved }) => isReserved || plain.includes(text))
  return { reserved: written.map(({ text }) => text), read }
}

/** Markers of many families: a template is rarely used with a vocabulary that has its own tokens only. */
const common = [
  '<|im_start|>',
  '<|im_end|>',
  '<|endoftext|>',
  '<s>',
  '</s>',
  '[INST]',
  '[/INST]',
  '<|eot_id|>',
  '<|a|>',
]
const commonWords = ['<think>', '</think>', '<tool_call>', '</tool_call>', '<|user|>', '<|assistant|>', '<|system|>']

/**
 * A vocabulary of bytes that is as careless as a tokenizer can be: it reads every special token
 * that stands in a text. Tokens are numbered behind the bytes.
 */
function createGreedyVocabulary(source: string): Vocabulary {
  const found = source.match(/<\|"\|>|<[^<>\s{}'"()=]{1,40}>|\[\/?[A-Z_]{2,}\]/gu) ?? []
  const isControl = (text: string) => common.includes(text) || /^<[|｜]|[|｜]>$|^\[/u.test(text)
  const texts = [...new Set([...common, ...commonWords, ...found])]
  const specialTokens = texts.map((text, index): SpecialToken => ({
    text,
    token: 256 + index,
    isReserved: (isControl(text) && !commonWords.includes(text)) || source.includes(text),
  }))
  const ids = new Map(specialTokens.map(({ text, token }) => [text, token]))
  const pattern = new RegExp(
    `(${texts
      .toSorted((a, b) => b.length - a.length)
      .map(RegExp.escape)
      .join('|')})`,
    'u',
  )
  const tokenize = (text: string) => {
    const parts = text.split(pattern).map((part): Iterable<number> => {
      const special = ids.get(part)
      return special === undefined ? Buffer.from(part) : [special]
    })
    return Uint32Array.from(parts.flatMap((part) => [...part]))
  }
  return {
    tokenize,
    tokenizeFollowing: tokenize,
    tokenizeMarkup: (text) => Uint32Array.from(Buffer.from(text)),
    takesParts: false,
    tokenBytesMax: 64,
    bytesOf: (token) => (token < 256 ? Uint8Array.of(token) : Buffer.from(specialTokens[token - 256]?.text ?? '')),
    tokenOfByte: (byte) => byte,
    endsGeneration: () => false,
    endTokens: [],
    specialTokens,
    bosToken: null,
    prependsBos: false,
  }
}
