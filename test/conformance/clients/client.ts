import type { Format } from '../../harness/http/ask.ts'

/** Where a service is found. */
export type Listening = {
  /** Without `/v1`. */
  readonly address: string
  readonly key: string
}

/** What a client is asked for. */
export type Asking = Listening & {
  /** Goes between the library and the network, to see what it sends. */
  readonly fetch: typeof fetch
  readonly model?: string
  readonly prompt?: string
}

/**
 * A client library as its users write it, with its own settings wherever it has any.
 *
 * Both ways resolve with the answer's text, and reject with whatever the library lets its user see.
 */
export type Client = {
  /** As `docs/clients.md` and the names of the tests have it. */
  readonly name: string
  /** What is installed for it, the first being its own. */
  readonly packages: readonly string[]
  readonly format: Format
  /** Whether it lets `x-should-retry` decide what is sent again; others look at the status alone. */
  readonly obeysShouldRetry: boolean
  whole(asking: Asking): Promise<string>
  /** `onText` gets every piece as it comes. */
  streamed(asking: Asking, onText?: (piece: string) => void): Promise<string>
}

export const defaults = { model: 'clarke-1.0', prompt: 'Hello there' } as const
