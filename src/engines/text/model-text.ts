// What a gateway has to know of a model's text in order to read its tokens, as plain data: the vocabulary and the template
// themselves stay in a child process.

import { createHash } from 'node:crypto'
import type { FitnessReport } from '../../chat-format/fitness-report.ts'
import type { ThinkingTags } from '../../chat-format/probe-template.ts'
import type { ToolFormat } from '../../chat-format/tool-format/tool-format.ts'
import type { Feature } from '../../core/feature.ts'
import type { TextTools } from './text-tools.ts'
import type { Vocabulary } from './vocabulary.ts'

export type ModelText = {
  readonly vocabulary: VocabularyTable
  readonly tags: ThinkingTags | null
  readonly toolFormat: ToolFormat | null
  readonly tools: FitnessReport['tools']
  /** What ends a thinking block that has used up its budget. */
  readonly closeThinkingTokens: Uint32Array
  /** What a model is given behind its thinking where a grammar leaves it no room for a blank line. */
  readonly gapTokens: Uint32Array
}

type VocabularyTable = {
  /** The bytes of all tokens, one behind the other, and where each token's end. */
  readonly bytes: Uint8Array
  readonly ends: Uint32Array
  readonly endTokens: readonly number[]
  /** Control tokens and added words; their texts may be hidden, and so not be among the bytes. */
  readonly specials: readonly { readonly text: string; readonly token: number }[]
  readonly tokenBytesMax: number
}

/** What sampling and grammars give for any weights. */
const always: ReadonlySet<Feature> = new Set(['json-output', 'logprobs', 'logit-bias', 'output-min'])
/** By how the template carries tools. */
export const featuresOf: Readonly<Record<FitnessReport['tools'], ReadonlySet<Feature>>> = {
  own: new Set([...always, 'tools']),
  generic: new Set([...always, 'tools', 'generic-tools']),
  none: always,
}

export function describeText({ vocabulary, vocabularySize, tags, toolFormat, fitness }: TextTools): ModelText {
  return {
    vocabulary: toTable(vocabulary, vocabularySize),
    tags,
    toolFormat,
    tools: fitness.tools,
    closeThinkingTokens: closingTokens(vocabulary, tags),
    gapTokens: vocabulary.tokenize(answerGap),
  }
}

/** The blank line that models are used to behind their thinking. */
export const answerGap = '\n\n'

export function closingTokens(vocabulary: Pick<Vocabulary, 'tokenize'>, tags: ThinkingTags | null): Uint32Array {
  return vocabulary.tokenize(`\n${tags?.close ?? ''}${answerGap}`)
}

function toTable(vocabulary: Vocabulary, size: number): VocabularyTable {
  const pieces: Uint8Array[] = []
  const ends = new Uint32Array(size)
  let end = 0
  for (let token = 0; token < size; token++) {
    const bytes = vocabulary.bytesOf(token)
    pieces.push(bytes)
    end += bytes.length
    ends[token] = end
  }
  return {
    bytes: Buffer.concat(pieces),
    ends,
    endTokens: vocabulary.endTokens,
    specials: vocabulary.specialTokens.map(({ text, token }) => ({ text, token })),
    tokenBytesMax: vocabulary.tokenBytesMax,
  }
}

/** What an answer's tokens stand for. */
export type TokenReader = Pick<Vocabulary, 'bytesOf' | 'endsGeneration' | 'endTokens'>

/** Reads tokens by a table, where the vocabulary itself is elsewhere. */
export class TableReader implements TokenReader {
  readonly #table: VocabularyTable
  readonly #ends: ReadonlySet<number>
  #tokens: Map<string, number> | null = null

  constructor(table: VocabularyTable) {
    this.#table = table
    this.#ends = new Set(table.endTokens)
  }

  get size(): number {
    return this.#table.ends.length
  }

  get endTokens(): readonly number[] {
    return this.#table.endTokens
  }

  get tokenBytesMax(): number {
    return this.#table.tokenBytesMax
  }

  /** The same for the same vocabulary. */
  get fingerprint(): string {
    const { bytes, ends } = this.#table
    return createHash('sha256').update(bytes).update(ends).digest('hex')
  }

  bytesOf(token: number): Uint8Array {
    const { bytes, ends } = this.#table
    return bytes.subarray(token === 0 ? 0 : (ends[token - 1] ?? 0), ends[token] ?? 0)
  }

  endsGeneration(token: number): boolean {
    return this.#ends.has(token)
  }

  /** The token of a control text or an added word; undefined where the text is none. */
  specialToken(text: string): number | undefined {
    return this.#table.specials.find((special) => special.text === text)?.token
  }

  /** The one token that a text is, whatever kind of token that is; undefined where it takes several. */
  tokenOfText(text: string): number | undefined {
    return this.specialToken(text) ?? this.tokenOf(Buffer.from(text))
  }

  /** The first token that stands for exactly these bytes. */
  tokenOf(bytes: Uint8Array): number | undefined {
    this.#tokens ??= this.#index()
    return this.#tokens.get(Buffer.from(bytes).toString('latin1'))
  }

  #index(): Map<string, number> {
    const tokens = new Map<string, number>()
    for (let token = this.size - 1; token >= 0; token--) {
      const bytes = this.bytesOf(token)
      if (bytes.length > 0) tokens.set(Buffer.from(bytes).toString('latin1'), token)
    }
    return tokens
  }
}
