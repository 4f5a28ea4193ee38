import { hash } from 'node:crypto'
import type { Vocabulary } from '../vocabulary.ts'

type Tokenizer = Pick<Vocabulary, 'tokenize' | 'tokenizeFollowing'>

/** A shorter text is made into tokens in less time than it is looked up in. */
const charactersMin = 32
/** What the entry of a piece takes beside its tokens. */
const bytesPerEntry = 400

/**
 * Remembers the tokens of pieces of text, least lately used first, so that a conversation that is sent again with one
 * turn more costs that turn.
 *
 * What stands between two special tokens is tokenized by itself, whatever is around it, and a long text is cut into the
 * same parts each time: a piece is found whole or not at all, and so the tokens are those that the vocabulary gives. The texts
 * themselves are not kept, only what SHA-256 makes of them. One organization's pieces are never found for another, which
 * could tell from the time it takes what others have asked.
 */
export class PieceMemory {
  readonly #bytesMax: number
  readonly #pieces = new Map<string, Uint32Array>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** What the tokens take that are remembered, and their entries. */
  get bytes(): number {
    return this.#bytes
  }

  /** The vocabulary with a memory for the texts of one organization. */
  remembering(vocabulary: Vocabulary, organizationId: string): Vocabulary {
    const remember =
      (kind: keyof Tokenizer) =>
      (text: string): Uint32Array =>
        text.length < charactersMin
          ? vocabulary[kind](text)
          : this.#find(hash('sha256', `${kind} ${organizationId} ${text}`, 'base64'), () => vocabulary[kind](text))
    return { ...vocabulary, tokenize: remember('tokenize'), tokenizeFollowing: remember('tokenizeFollowing') }
  }

  #find(key: string, tokenize: () => Uint32Array): Uint32Array {
    const known = this.#pieces.get(key)
    if (known !== undefined) {
      this.#pieces.delete(key)
      this.#pieces.set(key, known)
      return known
    }
    const tokens = tokenize()
    this.#pieces.set(key, tokens)
    this.#bytes += bytesOf(tokens)
    for (const [oldest, its] of this.#pieces) {
      if (this.#bytes <= this.#bytesMax) break
      this.#pieces.delete(oldest)
      this.#bytes -= bytesOf(its)
    }
    return tokens
  }
}

function bytesOf(tokens: Uint32Array): number {
  return tokens.buffer.byteLength + bytesPerEntry
}
