import type { z } from 'zod'
import type { Session } from '../../accounts/sign-in/sessions.ts'
import type { Permission, Target } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Catalog } from '../../models/catalog.ts'
import type { BrowserExchange } from './browser.ts'
import type { EventHub } from './events/event-hub.ts'
import type { FailedAttempts } from './failed-attempts.ts'
import type { ManagementParts } from './parts.ts'

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a route's work is given: reads see the database, changes the transaction that they are part of. */
export type RouteParts = {
  readonly accounts: ManagementParts['accounts']
  readonly management: ManagementParts
  readonly catalog: Catalog
  readonly browser: BrowserExchange
  /** Tells of changes while somebody listens. */
  readonly events: EventHub
  /** Whether the service is about to stop, and answers that have no end should. */
  isStopping(): boolean
  /** Whether the client's connection is gone. */
  hasLeft(): boolean
  /** Asks anew who it is that was let in: whether they still are, with the same part. */
  isSameAsker(): Promise<boolean>
  /** Where attempts that failed are counted and held back. */
  readonly attempts: FailedAttempts
  /** Whoever is signed in and asks; null for keys, and for what anybody may ask. */
  readonly session: Session | null
  /** Done once the change is committed. */
  afterwards(work: () => Promise<void>): void
}

export type Call<Params, Query, Body> = {
  readonly parts: RouteParts
  readonly principal: Principal
  readonly params: Params
  readonly query: Query
  readonly body: Body
}

/**
 * To what a route's permission is asked for, before anything of it is done.
 *
 *     organization   the one in its path, which must be there
 *     subject        the one in its path, which must have what the body names: the work looks for both at once
 *     installation   no organization: the permission must reach the whole installation
 *     own            the organization that the query names as `organizationId`, where the route takes one; else the
 *                    principal's own, or the installation for who belongs to none
 *     a function     what the path names, found first; null is not there
 */
export type Scope =
  | 'organization'
  | 'subject'
  | 'installation'
  | 'own'
  | ((parts: Pick<RouteParts, 'accounts'>, params: Record<string, unknown>) => Promise<Target | null>)

/**
 * Who may use a route: whoever has the permission; with `self` everybody who is signed in, for their own account, and no
 * key; with `public` anybody.
 */
export type Access = Permission | 'self' | 'public'

type RouteFacts = {
  readonly method: ApiMethod
  /** In the notation of OpenAPI, as `/api/v1/things/{thingId}`; `{tile}` at the end takes all that is left of a path. */
  readonly path: `/api/v1/${string}`
  readonly permission: Access
  readonly scope: Scope
  readonly summary: string
  /** A body that is accepted. */
  readonly example?: unknown
  /** Whether somebody who is signed in must have shown a short while ago who they are; a function says so by the body. */
  readonly needsProof?: true | ((body: never) => boolean)
  /** Whether a person who reads it leaves a row in the audit, once an hour; whoever saves an export always does. */
  readonly isNoted?: true
  /** Whether it is open also to whom a connection's provider vouches for, of what changes a person's own account. */
  readonly isForVouched?: true
  /**
   * Begins transactions of its own, so that what it counts stays where it refuses; then no answer is kept for a request
   * that is sent again, and one with an Idempotency-Key is refused.
   */
  readonly hasOwnTransactions?: true
}

/** A stream of text, which a client saves as a file. */
export type Export = {
  readonly contentType: string
  readonly fileName: string
  readonly chunks: AsyncIterable<string>
}

/** A file that programs read, which may be kept for as long as it says. */
export type Bytes = { readonly contentType: string; readonly cacheControl: string; readonly bytes: Buffer }

/** A route of the management API. The table of these is what is served, documented and tested. */
export type Route = RouteFacts & {
  readonly params: z.ZodObject
  readonly query: z.ZodObject | null
  readonly body: z.ZodType | null
  readonly answer: z.ZodType | 'export' | 'events' | 'bytes' | 'nothing'
  work(call: Call<Record<string, unknown>, unknown, unknown>): Promise<unknown>
}

type Worked<Answer> = Answer extends z.ZodType
  ? z.input<Answer>
  : Answer extends 'export'
    ? Export
    : Answer extends 'events'
      ? AsyncIterable<string>
      : Answer extends 'bytes'
        ? Bytes
        : void

type Definition<Params extends z.ZodObject, Query, Body, Answer> = RouteFacts & {
  readonly params: Params
  readonly query?: Query
  readonly body?: Body
  readonly answer: Answer
  work(call: Call<z.output<Params>, Read<Query>, Read<Body>>): Promise<Worked<Answer>>
}

type Read<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** Declares a route; what its work is given and gives back follows from its schemas. */
export function defineRoute<
  Params extends z.ZodObject,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  const Answer extends z.ZodType | 'export' | 'events' | 'bytes' | 'nothing',
>({ query, body, ...definition }: Definition<Params, Query, Body, Answer>): Route {
  return { ...definition, query: query ?? null, body: body ?? null } as Route
}
