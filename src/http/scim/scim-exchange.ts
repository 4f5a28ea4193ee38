// A request of a directory: who asks, what it sends, and how it is answered.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { noteConflict } from '../../accounts/directory/conflicts.ts'
import { findAskingDirectory, type AskingDirectory } from '../../accounts/directory/directory-tokens.ts'
import { notThere, ScimFault } from '../../accounts/directory/scim/fault.ts'
import { parseFilter } from '../../accounts/directory/scim/filter.ts'
import { readPage, type ListRequest } from '../../accounts/directory/scim/list.ts'
import { readOwn, type Projection, type Resource } from '../../accounts/directory/scim/resource.ts'
import type { ResourceType } from '../../accounts/directory/scim/schema.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { RequestId } from '../../core/ids.ts'
import { runUndoneAgain } from '../../db/transactions/run-undone-again.ts'
import { withConflicts } from '../api/carry-out.ts'
import type { FailedAttempts } from '../api/failed-attempts.ts'
import { answerHeaders } from '../api/problem.ts'
import { areIds, requireJson } from '../api/read-input.ts'
import type { Door } from '../parts.ts'
import { pathOf } from '../request-path.ts'
import { scimType } from './scim-error.ts'

const bodyBytesMax = 1_048_576
const depthMax = 20
const namesMax = 100

export type AskedScim = {
  readonly parts: AccountsParts
  readonly directory: AskingDirectory
  readonly request: FastifyRequest
  /** The address of the service for directories, of which resources tell their own. */
  readonly baseUrl: string
  readonly id: string
  readonly ifMatch: string | null
  readBody(): Promise<unknown>
}

export type ScimAnswer = {
  readonly status: number
  readonly body?: Resource
  /** What the answer is of, before anything of it was left out. */
  readonly meta?: unknown
}
export type ScimWork = (asked: AskedScim) => Promise<ScimAnswer>

/** Carries out what a directory asks. What it is refused for its own sake stands among its conflicts. */
export function answerScim(door: Door, attempts: FailedAttempts, work: ScimWork) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const asked = await open(door, attempts, request)
    try {
      const answer = await withConflicts(() => work(asked))
      return await send(answer, request, reply)
    } catch (error) {
      if (error instanceof ScimFault) await note(asked, error)
      throw error
    }
  }
}

async function open(door: Door, attempts: FailedAttempts, request: FastifyRequest): Promise<AskedScim> {
  const { accounts, siteUrl } = door.management
  const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const directory = await findAskingDirectory(accounts, token)
  if (directory === null) {
    await attempts.hold(request.ip, { shown: 'key of a directory' })
    throw new ScimFault(
      401,
      null,
      'Send Authorization: Bearer with a token of a directory, which begins with sk-odyd-.',
    )
  }
  if (!areIds(request)) throw notThere()
  const { id = '' } = request.params as { readonly id?: string }
  const ifMatch = request.headers['if-match'] ?? null
  // A directory takes 409 for something that is there already, so what was undone for another is run again.
  const db = runUndoneAgain(accounts.db)
  const parts = { ...accounts, db, origin: { address: request.ip, requestId: request.id as RequestId } }
  const readBody = () => read(door, request, directory)
  return { parts, directory, request, baseUrl: `${siteUrl()}/scim/v2`, id, ifMatch, readBody }
}

async function read({ bodies }: Door, request: FastifyRequest, { id }: AskingDirectory): Promise<unknown> {
  requireJson(request)
  const body = bodies.open(request.raw, `directory ${id}`)
  try {
    const value = await body.readJson(bodyBytesMax)
    if (isDeeper(value, depthMax)) throw invalidSyntax(`The body is nested deeper than ${depthMax} levels.`)
    return value
  } finally {
    body.release()
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}

function invalidSyntax(message: string): ScimFault {
  return new ScimFault(400, 'invalidSyntax', message)
}

const notedStatuses: ReadonlySet<number> = new Set([400, 409, 413])

async function note({ parts, directory, request }: AskedScim, { status, message }: ScimFault): Promise<void> {
  if (!notedStatuses.has(status)) return
  const { method, id: requestId } = request
  const path = pathOf(request.url).slice(0, 200)
  // It may quote what was sent, of which PostgreSQL keeps every character but one.
  const detail = message.slice(0, 500).replaceAll('\0', '\ufffd')
  await noteConflict(parts, directory, { method, path, status, detail, requestId })
}

function send({ status, body, meta = {} }: ScimAnswer, request: FastifyRequest, reply: FastifyReply): unknown {
  void reply.headers(answerHeaders)
  const { location, version } = meta as { readonly location?: string; readonly version?: string }
  if (version !== undefined) void reply.header('etag', version)
  if (status === 201 && location !== undefined) void reply.header('location', location)
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim()) ?? []
  const isKnown = request.method === 'GET' && version !== undefined && known.includes(version)
  if (isKnown) return reply.code(304).send()
  if (body === undefined) return reply.code(status).send()
  return reply.code(status).type(scimType).send(JSON.stringify(body))
}

/** What is asked of a list or an answer, as an address has it in its query and a search in its body. */
export type Asking = (name: string) => unknown

export function askingOf({ query }: FastifyRequest): Asking {
  return (name) => {
    const value = readOwn(query, name)
    return Array.isArray(value) ? (value as readonly unknown[])[0] : value
  }
}

export function readProjection(asking: Asking): Projection {
  const only = readNames(asking('attributes'))
  return { only: only.length === 0 ? null : only, without: readNames(asking('excludedAttributes')) }
}

function readNames(given: unknown): readonly string[] {
  const names = (Array.isArray(given) ? (given as readonly unknown[]) : [given]).flatMap((text) =>
    typeof text === 'string' ? text.split(',').map((name) => name.trim()) : [],
  )
  if (names.length > namesMax) throw invalidSyntax(`At most ${namesMax} attributes are named.`)
  return names.filter((name) => name !== '')
}

export function readListRequest(type: ResourceType, asking: Asking): ListRequest {
  const filter = asking('filter') ?? null
  if (filter !== null && typeof filter !== 'string') {
    throw new ScimFault(400, 'invalidFilter', 'The filter cannot be read: it is no text.')
  }
  const page = readPage(asking('startIndex'), asking('count'))
  return { filter: filter === null ? null : parseFilter(type, filter), ...page }
}
