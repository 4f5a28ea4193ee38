/**
 * Whether the quickstart makes a key as soon as it is shown: the setup says so, once, in the memory of this page alone. Who
 * loads the quickstart anew, or follows a link to it, makes a key by a click.
 */
class FirstKey {
  #isDue = false

  ask(): void {
    this.#isDue = true
  }

  take(): boolean {
    const isDue = this.#isDue
    this.#isDue = false
    return isDue
  }
}

export const firstKey = new FirstKey()
