export type Surroundings<Item> = {
  /** Called when the first item is asked for, and never before. What it throws is thrown by the stream, which then has no end. */
  begin(): AsyncIterable<Item>
  /** Called once when what was begun is over: it has ended, has failed, or was left. */
  end(failure: unknown): void
}

/**
 * A stream with something done before and after it.
 *
 * It is what a generator with `yield*` and `finally` would be. Items go through
 * as they are, where a generator makes half a dozen promises of each of them.
 */
export function around<Item>({ begin, end }: Surroundings<Item>): AsyncGenerator<Item> {
  let source: AsyncIterator<Item> | null = null
  let isOver = false
  const finish = (failure: unknown) => {
    if (isOver) return
    isOver = true
    end(failure)
  }
  const pass = (result: IteratorResult<Item>) => {
    if (result.done === true) finish(undefined)
    return result
  }
  const fail = (error: unknown): never => {
    finish(error)
    throw error
  }
  const start = () => {
    try {
      return (source = begin()[Symbol.asyncIterator]())
    } catch (error) {
      isOver = true
      throw error
    }
  }
  return {
    next() {
      if (isOver) return Promise.resolve({ done: true, value: undefined })
      try {
        return (source ?? start()).next().then(pass, fail)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    async return(value) {
      if (source === null) isOver = true
      await source?.return?.().catch(fail)
      finish(undefined)
      return { done: true, value }
    },
    async throw(error) {
      await this.return(undefined)
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [Symbol.asyncDispose]() {
      await this.return(undefined)
    },
  }
}
