import { quote } from '../../lib/gbnf.ts'
import type { AnswerPlan } from '../text/prepared-text.ts'
import type { TableReader } from '../text/model-text.ts'

/** Where the marker of a call began. */
export type Begun = {
  /** The number of the answer's tokens before it. */
  readonly at: number
  /** What the answer goes on under from there. */
  readonly grammar: string
  /** What the answer has behind that place already, and the grammar writes once more. */
  readonly written: Buffer
}

type Piece = { readonly at: number; readonly bytes: Uint8Array }

/**
 * Looks for the marker of a call in an answer's tokens.
 *
 * What an engine was free to write behind the marker may be none of what a call may hold, so nothing of it is kept: the answer
 * goes back to the last token before the marker. A token that the marker began in the midst of is written anew, its first
 * bytes by the grammar too.
 */
export class TriggerWatch {
  readonly #lazy: AnswerPlan['lazy']
  readonly #reader: Pick<TableReader, 'bytesOf'>
  readonly #bytesKept: number
  readonly #lead: Buffer
  #pieces: Piece[] = []
  #isDone: boolean

  constructor({ lazy }: Pick<AnswerPlan, 'lazy'>, reader: Pick<TableReader, 'bytesOf'>) {
    this.#lazy = lazy
    this.#reader = reader
    this.#isDone = lazy === null
    this.#lead = Buffer.from(lazy?.lead ?? '')
    this.#bytesKept = Math.max(0, ...(lazy?.triggers ?? []).map((trigger) => Buffer.byteLength(trigger)))
  }

  get isWatching(): boolean {
    return !this.#isDone
  }

  /** Takes the answer's next token, before which there are so many. Returns where a marker began that it completes. */
  feed(token: number, at: number): Begun | null {
    if (this.#lazy === null) return null
    this.#pieces.push({ at, bytes: this.#reader.bytesOf(token) })
    const isFromStart = this.#pieces[0]?.at === 0
    const lead = isFromStart ? this.#lead : Buffer.alloc(0)
    const text = Buffer.concat([lead, ...this.#pieces.map(({ bytes }) => bytes)])
    const start = firstOf(text, this.#lazy.triggers)
    if (start === -1) {
      this.#forget(text.length)
      return null
    }
    this.#isDone = true
    return start < lead.length ? this.#behindLead() : this.#goBack(start - lead.length)
  }

  /** The prompt holds the beginning of the marker: the answer begins anew, and its grammar without that. */
  #behindLead(): Begun {
    return { at: 0, grammar: this.#lazy?.behindPrompt ?? this.#lazy?.grammar ?? '', written: this.#taken() }
  }

  #goBack(start: number): Begun {
    let offset = 0
    for (const { at, bytes } of this.#pieces) {
      if (offset + bytes.length > start) {
        const before = Buffer.from(bytes.subarray(0, start - offset)).toString()
        const grammar = this.#lazy?.grammar ?? ''
        return {
          at,
          grammar: before === '' ? grammar : beginWith(before, grammar),
          written: this.#taken().subarray(offset),
        }
      }
      offset += bytes.length
    }
    throw new Error('A marker was found where there is no token.')
  }

  /** The bytes of all tokens but the last one, which the answer has not taken. */
  #taken(): Buffer {
    return Buffer.concat(this.#pieces.slice(0, -1).map(({ bytes }) => bytes))
  }

  /** Keeps what a marker may have begun in. */
  #forget(length: number): void {
    let left = length
    while (this.#pieces.length > 1 && left - (this.#pieces[0]?.bytes.length ?? 0) >= this.#bytesKept) {
      left -= this.#pieces.shift()?.bytes.length ?? 0
    }
  }
}

function firstOf(text: Buffer, triggers: readonly string[]): number {
  let first = -1
  for (const trigger of triggers) {
    const start = trigger === '' ? -1 : text.indexOf(trigger)
    if (start !== -1 && (first === -1 || start < first)) first = start
  }
  return first
}

/** The grammar of what another one accepts behind a text. */
function beginWith(text: string, grammar: string): string {
  // A rule ends with its line, and what Unicode takes for the end of one may be a part of its texts.
  return grammar.replace(/^root ::= ([^\n]*)/u, (_, root: string) => `root ::= ${quote(text)} (${root})`)
}
