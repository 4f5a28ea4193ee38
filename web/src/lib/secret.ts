/**
 * A text that is shown once and then forgotten.
 *
 * What draws the pages keeps what it drew last for as long as nothing else takes its place. So it is given this, and
 * the text is taken out of it.
 */
export class Secret {
  #text: string
  #holders = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The empty text once it is forgotten. */
  read(): string {
    return this.#text
  }

  forget(): void {
    this.#text = ''
  }

  /** Keeps it for what shows it, until the answer is called; then it is forgotten unless something shows it again at once. */
  hold(): () => void {
    this.#holders += 1
    return () => {
      this.#holders -= 1
      setTimeout(() => {
        if (this.#holders === 0) this.forget()
      })
    }
  }
}
