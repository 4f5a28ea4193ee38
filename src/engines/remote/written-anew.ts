import { continueUtf8 } from '../text/utf8.ts'
import { ReplicaFault } from './dialect.ts'

/**
 * What a leg under a grammar writes once more of an answer that has it already.
 *
 * A grammar is read from its beginning only, so such a leg begins where the grammar does; what the client has of that must come
 * out the same.
 */
export class WrittenAnew {
  /** What is still to come once more. */
  #expected: Buffer = Buffer.alloc(0)
  /** What the present leg has written. */
  #written: Buffer[] = []
  /** The bytes of a character that is not whole yet. */
  #openCharacter: Uint8Array = new Uint8Array()

  /** How many bytes are still to come once more. */
  get bytesLeft(): number {
    return this.#expected.length
  }

  expect(bytes: Buffer): void {
    this.#expected = bytes
  }

  beginLeg(): void {
    this.#written = []
    this.#openCharacter = new Uint8Array()
  }

  /** The present leg was lost: what it has written is written once more too. */
  rewind(): void {
    this.#expected = Buffer.concat([...this.#written, this.#expected])
  }

  /**
   * Notes a token's bytes that were written under a grammar. Engines take overlong spellings of a character for the character
   * where a grammar asks for it; written out they are no text.
   */
  note(bytes: Buffer): void {
    const open = continueUtf8(this.#openCharacter, bytes)
    if (open === null) throw new ReplicaFault('unfit', 'It wrote bytes that are no text.')
    this.#openCharacter = open
    this.#written.push(bytes)
  }

  /** Takes from a token's bytes those that the answer has. Returns the others. */
  skip(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#expected.length, bytes.length)
    if (!bytes.subarray(0, skipped).equals(this.#expected.subarray(0, skipped)))
      throw new ReplicaFault('unfit', 'It wrote another answer where it was to write the same again.')
    this.#expected = this.#expected.subarray(skipped)
    return bytes.subarray(skipped)
  }
}
