import type { Connection, Format } from './connection.ts'

/** How a client reaches the service: the address in its own form, what it appends, and how it sends the key. */
export type Reach = {
  readonly format: Format
  /** As it stands in the client's settings. */
  readonly baseAddress: string
  /** What the client adds to it by itself. */
  readonly appended: string
  readonly authorization: 'bearer' | 'x-api-key'
  /** The value of `anthropic-version`; null in the chat format. */
  readonly version: string | null
}

/** All clients of the chat format do the same. */
export function reachChat(address: string): Reach {
  return {
    format: 'chat',
    baseAddress: `${address}/v1`,
    appended: '/chat/completions',
    authorization: 'bearer',
    version: null,
  }
}

const baseForms = {
  /** The official libraries: they know that the path begins with `/v1`. */
  root: { suffix: '', appended: '/v1/messages' },
  /** Libraries that count `/v1` to the address. */
  'with-v1': { suffix: '/v1', appended: '/messages' },
} as const

/** The version that all clients but the newest official libraries send. */
const usualVersion = '2023-06-01'

export type MessagesHabits = {
  readonly base: keyof typeof baseForms
  readonly authorization: Reach['authorization']
  readonly version?: string
  readonly query?: string
}

/** Clients of the messages format differ in the address, the header of the key and the version. */
export function reachMessages(address: string, habits: MessagesHabits): Reach {
  const { suffix, appended } = baseForms[habits.base]
  return {
    format: 'messages',
    baseAddress: `${address}${suffix}`,
    appended: `${appended}${habits.query ?? ''}`,
    authorization: habits.authorization,
    version: habits.version ?? usualVersion,
  }
}

/** For clients that speak either format. */
export function reachEither({ format, address }: Connection, habits: MessagesHabits): Reach {
  return format === 'chat' ? reachChat(address) : reachMessages(address, habits)
}
