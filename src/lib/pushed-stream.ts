export type PushedStreamOptions = {
  /** Called for each item that is read. */
  onTaken?(): void
  /** Called when the reader leaves before the end. */
  onLeft?(): void
}

/** A stream of what is pushed into it, read by one consumer. What was pushed before it ended is read before the end. */
export class PushedStream<Item> implements AsyncIterableIterator<Item> {
  readonly #options: PushedStreamOptions
  #items: Item[] = []
  #reader: PromiseWithResolvers<IteratorResult<Item>> | null = null
  #end: { readonly failure: Error | null } | null = null

  constructor(options: PushedStreamOptions = {}) {
    this.#options = options
  }

  /** Items that were pushed and not read yet. */
  get unread(): number {
    return this.#items.length
  }

  /** After the end it changes nothing. */
  push(item: Item): void {
    if (this.#end !== null) return
    const reader = this.#reader
    if (reader === null) {
      this.#items.push(item)
      return
    }
    this.#reader = null
    this.#options.onTaken?.()
    reader.resolve({ done: false, value: item })
  }

  /** Ends the stream, with a failure that its reader is thrown or without one. A second call changes nothing. */
  end(failure: Error | null = null): void {
    if (this.#end !== null) return
    const reader = this.#reader
    this.#reader = null
    // A reader that waits is thrown it now.
    this.#end = { failure: reader === null ? failure : null }
    if (failure === null) reader?.resolve({ done: true, value: undefined })
    else reader?.reject(failure)
  }

  /** Forgets what nobody has read yet. */
  clear(): void {
    this.#items = []
  }

  next(): Promise<IteratorResult<Item>> {
    const item = this.#items.shift()
    if (item !== undefined) {
      this.#options.onTaken?.()
      return Promise.resolve({ done: false, value: item })
    }
    if (this.#end === null) return (this.#reader = Promise.withResolvers()).promise
    const { failure } = this.#end
    // A failure is thrown once; after it the stream is over.
    this.#end = { failure: null }
    return failure === null ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(failure)
  }

  return(): Promise<IteratorResult<Item>> {
    const isLeft = this.#end === null
    this.clear()
    this.end()
    this.#end = { failure: null }
    if (isLeft) this.#options.onLeft?.()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
