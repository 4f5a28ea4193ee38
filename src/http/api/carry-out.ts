import type { FastifyRequest } from 'fastify'
import { ApiError, conflict, invalidRequest } from '../../core/error.ts'
import type { RequestId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { actorOf, joinTransaction } from '../../db/change.ts'
import { isUndone, runUndoneAgain } from '../../db/transactions/run-undone-again.ts'
import { claimAnswer, forgetAnswers, type Claim, type StoredAnswer } from '../../db/stored-answers.ts'
import type { LimitChange } from '../../limits/settings/change-limits.ts'
import type { HttpParts } from '../parts.ts'
import type { Session } from '../../accounts/sign-in/sessions.ts'
import type { BrowserExchange } from './browser.ts'
import type { EventHub } from './events/event-hub.ts'
import type { FailedAttempts } from './failed-attempts.ts'
import type { NotedReadings } from './noted-readings.ts'
import type { Route, RouteParts } from './route.ts'

/** A change that was asked for, with all that was read of its request. */
export type Asked = {
  readonly route: Route
  readonly request: FastifyRequest
  readonly principal: Principal
  readonly browser: BrowserExchange
  readonly attempts: FailedAttempts
  readonly events: EventHub
  readonly readings: NotedReadings
  readonly session: Session | null
  isSameAsker(): Promise<boolean>
  readonly params: Record<string, unknown>
  readonly query: unknown
  readonly body: unknown
}

export type CarriedOut = StoredAnswer & { readonly isRepeated: boolean }

/**
 * Makes a change, once.
 *
 * The change, its audit row, what is read for the answer and the stored answer
 * are one transaction: either all of it is there, or nothing.
 */
export async function carryOut(parts: HttpParts, asked: Asked): Promise<CarriedOut> {
  const { accounts } = parts.management
  const key = readIdempotencyKey(asked)
  if (asked.route.hasOwnTransactions === true) return withConflicts(() => carryOutAlone(parts, asked))
  if (key !== null) await forgetAnswers(accounts.db, accounts.clock.nowMs())
  const later: (() => Promise<void>)[] = []
  const result = await withConflicts(() =>
    runUndoneAgain(accounts.db)
      .transaction()
      .execute(async (transaction): Promise<CarriedOut> => {
        // Nobody is told of what was undone.
        later.length = 0
        const sealing = { nowMs: accounts.clock.nowMs(), sealKey: parts.management.storedAnswerKey }
        const claim = key === null ? null : await claimAnswer(transaction, repeatable(asked, key), sealing)
        const known = answerOf(claim)
        if (known !== null) return { ...known, isRepeated: true }
        const routeParts = createRouteParts(parts, asked, (work) => later.push(work))
        const db = joinTransaction(transaction)
        const answer = await work(asked, { ...routeParts, accounts: { ...routeParts.accounts, db } })
        if (claim?.kind === 'new') await claim.store(answer)
        return { ...answer, isRepeated: false }
      }),
  )
  for (const work of later) await work()
  return result
}

/** Makes a change that has transactions of its own, each of which is run again where it was undone for another. */
async function carryOutAlone(parts: HttpParts, asked: Asked): Promise<CarriedOut> {
  const later: (() => Promise<void>)[] = []
  const routeParts = createRouteParts(parts, asked, (work) => later.push(work))
  const db = runUndoneAgain(routeParts.accounts.db)
  try {
    return { ...(await work(asked, { ...routeParts, accounts: { ...routeParts.accounts, db } })), isRepeated: false }
  } catch (error) {
    throw isUndone(error) ? tryAgainLater(error) : error
  } finally {
    // What was changed before a failure stays.
    for (const work of later) await work()
  }
}

const retryAfterMs = 1_000

function tryAgainLater(cause: unknown): ApiError {
  const message = 'Others changed the same things at this moment. Please try again.'
  return new ApiError({ code: 'overloaded', retryAfterMs }, message, { cause })
}

/** What a route's work is given outside of a transaction. */
export function createRouteParts(
  { management, inference, tracker }: HttpParts,
  {
    request,
    browser,
    attempts,
    events,
    session,
    isSameAsker,
  }: Pick<Asked, 'request' | 'browser' | 'attempts' | 'events' | 'session' | 'isSameAsker'>,
  afterwards: RouteParts['afterwards'],
): RouteParts {
  const { accounts } = management
  const { accessChanged, limitsChanged } = accounts
  const origin = { address: request.ip, requestId: request.id as RequestId }
  // Nobody is told of a change that may yet be undone.
  const notices = {
    ...(accessChanged !== undefined && {
      accessChanged: () => Promise.resolve(afterwards(() => accessChanged())),
    }),
    ...(limitsChanged !== undefined && {
      limitsChanged: (change: LimitChange) => Promise.resolve(afterwards(() => limitsChanged(change))),
    }),
  }
  const own = { ...accounts, origin, ...notices }
  const isStopping = () => tracker.isDraining()
  const shared = { management, catalog: inference.catalog, browser, attempts, events, session, isSameAsker }
  const hasLeft = () => request.raw.socket.destroyed
  return { ...shared, isStopping, hasLeft, afterwards, accounts: own }
}

async function work({ route, principal, params, query, body }: Asked, parts: RouteParts): Promise<StoredAnswer> {
  const answer = await route.work({ parts, principal, params, query, body })
  if (route.answer === 'nothing') return { status: 204, body: '' }
  return { status: statusOf(route), body: JSON.stringify(answer) }
}

/** What makes a new thing says so. */
export function statusOf({ method, answer, permission }: Pick<Route, 'method' | 'answer' | 'permission'>): number {
  if (answer === 'nothing') return 204
  return method === 'POST' && /:(create|rotate)$|^prices:update$/.test(permission) ? 201 : 200
}

function answerOf(claim: Claim | null): StoredAnswer | null {
  if (claim?.kind === 'other') throw conflict('This Idempotency-Key was given to another request.')
  return claim?.kind === 'known' ? claim.answer : null
}

/** Whether a route carries a request out once that is sent again under the same key. */
export function takesIdempotencyKey({ method, hasOwnTransactions }: Pick<Route, 'method' | 'hasOwnTransactions'>) {
  return method === 'POST' && hasOwnTransactions !== true
}

function readIdempotencyKey({ route, request }: Asked): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined || route.method !== 'POST') return null
  // Whoever sends a key relies on it, and would send again what is then done twice.
  if (!takesIdempotencyKey(route))
    throw invalidRequest(null, null, 'This request takes no Idempotency-Key: sent again, it is carried out again.')
  if (typeof key === 'string' && /^[!-~]{1,255}$/.test(key)) return key
  throw invalidRequest(null, null, 'An Idempotency-Key has from 1 to 255 visible ASCII characters.')
}

function repeatable({ request, principal, body }: Asked, key: string) {
  const content = [request.method, request.url, JSON.stringify(body) ?? '']
  return { actor: actorOf(principal), key, content }
}

/** Changes that met: each of them alone would have been possible. */
const conflictCodes: ReadonlySet<unknown> = new Set(['40001', '40P01', '23505'])

export async function withConflicts<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    const isConflict = error instanceof Error && 'code' in error && conflictCodes.has(error.code)
    if (!isConflict || error instanceof ApiError) throw error
    throw conflict('Somebody else changed the same thing at this moment. Please try again.', { cause: error })
  }
}
