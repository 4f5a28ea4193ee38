/** A file that is no whole GGUF file of a language model; the message says why. */
export class GgufError extends Error {
  override readonly name = 'GgufError'
}
