/** Reads a response in the background and keeps what has come so far. */
export class Transcript {
  text = ''
  /** How it ended: null while it goes on. */
  end: 'complete' | 'cut' | null = null
  readonly #reader

  constructor(response: Response) {
    if (response.body === null) throw new Error('The response has no body.')
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    this.#read().then(
      () => (this.end = 'complete'),
      () => (this.end = 'cut'),
    )
  }

  leave(): Promise<void> {
    return this.#reader.cancel()
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) return
      this.text += value
    }
  }
}
