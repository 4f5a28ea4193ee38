import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { collectAll } from '../../core/collect.ts'
import { ApiError, toApiError } from '../../core/error.ts'
import { GenerationAborted, type GenerationEvent } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import { generate } from '../../inference/generate.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AnswerMeta, DecodedRequest, Protocol } from '../../protocols/protocol.ts'
import { logCause } from '../errors.ts'
import { authenticate } from '../middleware/authenticate.ts'
import { readJson } from '../middleware/read-json.ts'
import type { HttpParts } from '../parts.ts'
import { takeOver } from '../raw-response.ts'
import { ClientGone, SseWriter } from '../sse.ts'
import { WholeAnswerWriter } from '../whole-answer-writer.ts'

/** After this a stream's head is sent though no event has come, so that nothing between here and the client gives up. */
const firstEventWaitMsMax = 10_000

/** One generation in either format: `POST /v1/chat/completions` and `POST /v1/messages`. */
export function generationRoute(parts: HttpParts, protocol: Protocol) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const principal = await authenticate(parts.apiKeys, request.headers)
    const tracked = parts.tracker.begin()
    try {
      const decoded = protocol.decode(await readJson(request.raw, parts.inference.clock))
      const signal = AbortSignal.any([tracked.signal, whenClientLeaves(reply.raw)])
      const exchange = { parts, protocol, decoded, principal, request, reply, signal }
      await (decoded.isStream ? answerAsStream(exchange) : answerWhole(exchange))
    } finally {
      tracked.end()
    }
  }
}

type Exchange = {
  readonly parts: HttpParts
  readonly protocol: Protocol
  readonly decoded: DecodedRequest
  readonly principal: ApiKeyPrincipal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** Fires when the client leaves or the service stops. */
  readonly signal: AbortSignal
}

async function answerAsStream(exchange: Exchange): Promise<void> {
  const { parts, protocol, decoded, reply, signal } = exchange
  const { clock } = parts.inference
  const starting = start(exchange)
  try {
    await settledOrAfter(starting, clock, firstEventWaitMsMax)
  } catch (thrown) {
    throw causeOfEnd(thrown, signal)
  }
  const writer = new SseWriter(takeOver(reply), { clock, ping: protocol.ping })
  try {
    const events = await starting
    for await (const message of decoded.encoder.encodeStream(events, metaOf(exchange))) await writer.write(message)
    writer.end()
  } catch (thrown) {
    if (thrown instanceof ClientGone) return
    const error = causeOfEnd(thrown, signal)
    logCause(parts.log, exchange.request.id, error)
    writer.fail(protocol.encodeStreamError(error, exchange.request.id as RequestId))
  }
}

async function answerWhole(exchange: Exchange): Promise<void> {
  const { parts, decoded, reply, signal } = exchange
  const writer = new WholeAnswerWriter(reply, parts.inference.clock)
  try {
    const answers = await collectAll(await start(exchange))
    await writer.send(JSON.stringify(decoded.encoder.encodeAnswer(answers, metaOf(exchange))))
  } catch (thrown) {
    const error = causeOfEnd(thrown, signal)
    if (!writer.giveUp()) throw error
    logCause(parts.log, exchange.request.id, error)
  }
}

function start({ parts, decoded, principal, request, signal }: Exchange): Promise<AsyncGenerator<GenerationEvent>> {
  const requestId = request.id as RequestId
  return generate(parts.inference, { request: decoded.request, requestId, principal }, signal)
}

/**
 * Waits for the start, but no longer than a client would.
 *
 * A failure within that time is thrown while the answer can still carry its
 * status; a later one is thrown where the stream awaits the start again.
 */
async function settledOrAfter(starting: Promise<unknown>, clock: Clock, waitMs: number): Promise<void> {
  let cancel = () => {}
  const waited = new Promise<void>((resolve) => {
    cancel = clock.after(waitMs, resolve)
  })
  try {
    await Promise.race([starting, waited])
  } finally {
    cancel()
  }
}

/** An aborted generation says only that it was aborted; a stopping service gave its reason to the signal. */
function causeOfEnd(thrown: unknown, signal: AbortSignal): ApiError {
  if (thrown instanceof GenerationAborted && signal.reason instanceof ApiError) return signal.reason
  if (thrown instanceof GenerationAborted) return new ApiError({ code: 'request-timeout' }, 'The client has left.')
  return toApiError(thrown)
}

function whenClientLeaves(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}

function metaOf({ request, decoded, parts }: Exchange): AnswerMeta {
  return {
    requestId: request.id as RequestId,
    model: decoded.request.model,
    createdAtMs: parts.inference.clock.nowMs(),
  }
}
