import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { LimitSnapshot } from '../core/limit.ts'
import type { Protocol } from './protocol.ts'

/** The settings that formats are opened with; every replica of a service needs the same key. */
export type FormatSettings = {
  /** Lets a later turn tell this service's thinking from any other. */
  readonly signatureKey: Uint8Array
  /** Stands for the deployment's revision; it must say nothing of the weights. */
  readFingerprint(): string
}

/** A path of a format, which takes `POST`. */
export type FormatRoute = {
  readonly path: string
  /** By which a key is confined to it. */
  readonly endpoint: string
  readonly use: 'generation' | 'count'
  /** What bodies are read by, for who wants to know what may be in one. */
  readonly body: z.ZodType
}

/** The header in which a format's clients put their key. */
export type KeyHeader = {
  readonly name: 'authorization' | 'x-api-key'
  /** Null where there is none. */
  read(headers: IncomingHttpHeaders): string | null
}

/** A wire format: what it is called, where it is spoken, and how. The door and the ledger know it by nothing else. */
export interface Format {
  /** As the ledger and the logs name it. */
  readonly name: string
  readonly routes: readonly FormatRoute[]
  /** Errors on these paths, and below those that end in a slash, are in this format. */
  readonly ownPaths: readonly string[]
  readonly keyHeader: KeyHeader
  /** The beginnings of headers that its clients send from a browser. */
  readonly clientHeaderPrefixes: readonly string[]
  /** What base address its clients need, as a part of a sentence. */
  readonly baseHint: string
  /** Paths at which requests arrive when a client's base address is off, and how to put it right. */
  readonly wrongBaseHints: Readonly<Record<string, string>>
  /** What others offer in this format and this service does not, with the way on. */
  readonly unsupported: Readonly<Record<string, string>>
  /** All names that `limitHeaders` may give. */
  readonly limitHeaderNames: readonly string[]
  limitHeaders(snapshot: LimitSnapshot, nowMs: number): Readonly<Record<string, string>>
  open(settings: FormatSettings): Protocol
  /** The body of a streamed request with a tool, for a rehearsal. */
  rehearsal(model: string): unknown
}

/** A format that is ready to be spoken. */
export type OpenFormat = Format & { readonly protocol: Protocol }
