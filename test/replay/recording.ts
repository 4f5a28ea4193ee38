import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RawRequest } from '../campaigns/raw-http.ts'

type Fields = Readonly<Record<string, unknown>>

/** One request of a real client, with its key and whatever was private taken out, and how it was answered. */
export type Recording = {
  /** From the folder that was given. */
  readonly file: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Fields | null
  readonly status: number
}

/** All recordings below a folder, in the order of their names: a conversation's requests follow one another. */
export function readRecordings(folder: string): Recording[] {
  const files = globSync('**/*.json', { cwd: folder }).toSorted()
  if (files.length === 0) throw new Error(`There are no recordings (*.json) in ${folder}.`)
  return files.map((file) => readRecording(folder, file))
}

function readRecording(folder: string, file: string): Recording {
  const read = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
    readonly method?: string
    readonly url?: string
    readonly headers?: Record<string, string>
    readonly body?: Fields | null
    readonly answered?: { readonly status?: number }
  }
  const { method, url, headers = {}, body = null, answered } = read
  if (method === undefined || url === undefined) throw new Error(`${file} is no recording: it has no method or no url.`)
  return { file, method, url, headers, body, status: answered?.status ?? 200 }
}

/** What the transport decides anew for every connection. */
const ofTheTransport = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

/** The request as the client sent it, with a key that this service knows in place of the one that was taken out. */
export function toRequest({ method, url, headers, body }: Recording, key: string): RawRequest {
  const sent = Object.entries(headers)
    .filter(([name]) => !ofTheTransport.has(name.toLowerCase()))
    .map(([name, value]) => [name, putKey(name, value, key)] as const)
  return { method, path: url, headers: sent, body: body === null ? '' : JSON.stringify(body) }
}

function putKey(name: string, value: string, key: string): string {
  if (!/^(authorization|x-api-key)$/i.test(name)) return value
  const given = isWrongKey(value) ? 'sk-wrong-0123456789' : key
  return name.toLowerCase() === 'authorization' ? `Bearer ${given}` : given
}

/** A key that was taken out leaves behind whether it was the one that the recording server knew. */
function isWrongKey(value: string): boolean {
  return value.startsWith('<redacted') && !value.includes('is-dummy-key')
}

/** Tools that a vendor's server would run; nobody can run them here. */
const serverRun = /^(web_search|web_fetch|code_execution|advisor|mcp_toolset)_?\d*$/

/** The status that a request must get. It is the one of the recording but where this service promises another. */
export function expectedStatus({ method, body, status }: Recording): number {
  // Only warms a connection up: the client takes any answer.
  if (method === 'HEAD') return 200
  const tools = (body?.['tools'] ?? []) as readonly { readonly type?: string }[]
  const isForServer = tools.length > 0 && tools.every(({ type }) => type !== undefined && serverRun.test(type))
  // The server that was recorded played along with both.
  return isForServer || showsImage(body) ? 400 : status
}

/** An image that the user shows; one within a tool's result is replaced by a note instead. */
function showsImage(body: Fields | null): boolean {
  const messages = (body?.['messages'] ?? []) as readonly { readonly content?: unknown }[]
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as Fields[]) : []))
  return parts.some(({ type }) => type === 'image' || type === 'image_url')
}
