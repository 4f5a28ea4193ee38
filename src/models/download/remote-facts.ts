import { DownloadError, Interruption } from './download-error.ts'
import type { RemoteAnswer } from './open-remote.ts'

/** What a server says of a file. */
export type RemoteFacts = {
  readonly totalBytes: number | null
  /** Names this very content; null where the server has no such name. */
  readonly tag: string | null
  /** The tag in the form in which the server compares it, where it is the server's own that sends the content. */
  readonly ifRange: string | null
  /** Where the answer's content begins in the file. */
  readonly startByte: number
}

/** Reads the head of an answer that brings content (200 or 206). */
export function readFacts({ status, headers, announced }: RemoteAnswer): RemoteFacts {
  requirePlain(headers)
  const range = status === 206 ? readRange(headers) : null
  const sent = range === null ? readSize(headers.get('content-length')) : range.totalBytes
  const linked = readSize(announced.get('x-linked-size'))
  if (sent !== null && linked !== null && sent !== linked) {
    throw new Interruption(`The file is announced with ${linked} bytes and sent with ${sent}.`)
  }
  const linkedTag = announced.get('x-linked-etag')
  const ifRange = linkedTag === null ? strongTag(headers) : null
  return {
    totalBytes: linked ?? sent,
    tag: linkedTag === null ? ifRange : bareTag(linkedTag),
    ifRange,
    startByte: range?.startByte ?? 0,
  }
}

/** An entity tag without its quotes. */
export function bareTag(tag: string): string {
  return tag.replace(/^W\//, '').replace(/^"(.*)"$/, '$1')
}

/** A whole number of bytes, or null for anything else. */
export function readSize(text: string | null): number | null {
  if (text === null || !/^\d{1,15}$/.test(text)) return null
  return Number(text)
}

function readRange(headers: Headers): { readonly startByte: number; readonly totalBytes: number | null } {
  const [, start, total] = /^bytes (\d{1,15})-\d+\/(\d{1,15}|\*)$/.exec(headers.get('content-range') ?? '') ?? []
  if (start === undefined) throw new Interruption('The server sends a part of the file and does not say which.')
  return { startByte: Number(start), totalBytes: readSize(total ?? null) }
}

/** A weak tag says that two contents mean the same, which is no ground to join parts of both. */
function strongTag(headers: Headers): string | null {
  const tag = headers.get('etag')
  return tag === null || tag.startsWith('W/') ? headers.get('last-modified') : tag
}

function requirePlain(headers: Headers): void {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity') return
  throw new DownloadError({ kind: 'refused' }, `The server sends the file encoded (${encoding}), though asked not to.`)
}
