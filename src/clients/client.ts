import type { Connection, Format } from './connection.ts'
import type { Reach } from './reach.ts'
import type { SettingsTree } from './settings/plan-edits.ts'

/** Code or commands to paste. They read the key from `ODYSSEY_KEY` and never hold it. */
export type Snippet = {
  readonly kind: 'snippet'
  readonly title: string
  readonly language: 'js' | 'python' | 'sh' | 'yaml'
  /** Ends with a line break. */
  readonly code: string
}

/** A file that the client reads by itself. */
export type SettingsFile = {
  readonly kind: 'file'
  readonly path: string
  /** What the client itself takes: some refuse comments. */
  readonly syntax: 'json' | 'jsonc' | 'yaml'
  readonly settings: SettingsTree
  /** What the client needs in its file and may well have there already; never overruled. */
  readonly defaults?: SettingsTree
}

export type Setup = {
  readonly reach: Reach
  readonly parts: readonly (Snippet | SettingsFile)[]
  /** What else to know, a sentence or two each. */
  readonly notes?: readonly string[]
}

type Named = {
  /** As on the command line. */
  readonly name: string
  readonly title: string
}

export type SupportedClient = Named & {
  /** The wire formats it can be set to, the one to prefer first. */
  readonly formats: readonly [Format, ...Format[]]
  setUp(connection: Connection): Setup
}

/** A client that people will ask for and that cannot work. */
export type UnsupportedClient = Named & { readonly reason: string }

export type Client = SupportedClient | UnsupportedClient

export function isSupported(client: Client): client is SupportedClient {
  return !('reason' in client)
}
