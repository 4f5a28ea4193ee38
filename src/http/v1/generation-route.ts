import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../../billing/ledger/ledger-entry.ts'
import { collectAll } from '../../core/collect.ts'
import type { GenerationEvent, GenerationRequest } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import { generate } from '../../inference/generate.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Entrance } from '../../limits/entrance.ts'
import type { FormatRoute, OpenFormat } from '../../protocols/format.ts'
import type { AnswerMeta, DecodedRequest, Protocol } from '../../protocols/protocol.ts'
import { admit } from '../admit.ts'
import { causeOfEnd, whenClientLeaves } from '../client-leaving.ts'
import { logCause } from '../errors.ts'
import { requireModel } from '../middleware/authenticate.ts'
import type { Door, HttpParts } from '../parts.ts'
import { takeOver } from '../raw-response.ts'
import { ClientGone, SseWriter } from '../sse.ts'
import { noteOrigin } from '../request-origin.ts'
import { tellLimits } from '../tell-limits.ts'
import { WholeAnswerWriter } from '../whole-answer-writer.ts'
import type { Tracing } from '../../telemetry/trace.ts'

/** After this a stream's head is sent though no event has come, so that nothing between here and the client gives up. */
const firstEventWaitMsMax = 10_000

/** One generation, in whatever format. */
export function generationRoute(parts: Door, { name: format, protocol }: OpenFormat, { endpoint }: FormatRoute) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const admitted = await admit(parts, request, endpoint)
    const { principal } = admitted.access
    let model: string | null = null
    let entrance: Entrance | null = null
    try {
      const entering = parts.inference.limiter.enter(principal)
      entrance = entering instanceof Promise ? await entering : entering
      const { shaped, bytes } = await admitted.decodeBody({ format, use: 'generation' })
      const decoded = { ...shaped, encoder: protocol.createEncoder(shaped.shape) }
      model = decoded.request.model
      requireModel(admitted.access, model)
      const { signal } = admitted
      whenClientLeaves(reply.raw, admitted.abort)
      const received = { request, reply, principal, protocol: format, isStream: decoded.isStream, body: bytes }
      const origin = await noteOrigin(parts, received)
      const exchange = { parts, protocol, format, decoded, origin, principal, request, reply, signal, entrance }
      await (decoded.isStream ? answerAsStream(exchange) : answerWhole(exchange))
    } catch (error) {
      tellLimits(parts, reply, { principal, model })
      throw error
    } finally {
      entrance?.leave()
      admitted.end()
    }
  }
}

type Exchange = {
  readonly parts: HttpParts
  readonly protocol: Protocol
  readonly format: string
  readonly decoded: DecodedRequest
  readonly origin: RequestOrigin
  readonly principal: ApiKeyPrincipal
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly entrance: Entrance
  /** Fires when the client leaves, the service stops or the key may no longer be used. */
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
  tellLimitsOf(exchange)
  const { raw, headers } = takeOver(reply)
  const writer = new SseWriter(raw, { clock, ping: protocol.ping, headers })
  try {
    const events = await starting
    for await (const message of decoded.encoder.encodeStream(events, metaOf(exchange))) {
      const waiting = writer.write(message)
      if (waiting !== null) await waiting
    }
    writer.end()
  } catch (thrown) {
    if (thrown instanceof ClientGone) return
    const error = causeOfEnd(thrown, signal)
    logCause(parts.log, exchange.request.id, error)
    parts.metrics.refused(error.code)
    writer.fail(protocol.encodeStreamError(error, exchange.request.id as RequestId))
  }
}

async function answerWhole(exchange: Exchange): Promise<void> {
  const { parts, decoded, reply, signal } = exchange
  const writer = new WholeAnswerWriter(reply, parts.inference.clock, () => tellLimitsOf(exchange))
  try {
    const answers = await collectAll(await start(exchange))
    const body = JSON.stringify(decoded.encoder.encodeAnswer(answers, metaOf(exchange)))
    await writer.send(body)
  } catch (thrown) {
    const error = causeOfEnd(thrown, signal)
    if (!writer.giveUp()) throw error
    logCause(parts.log, exchange.request.id, error)
    parts.metrics.refused(error.code)
  }
}

function start(exchange: Exchange): Promise<AsyncGenerator<GenerationEvent>> {
  const { parts, format, decoded, origin, principal, request, signal, entrance } = exchange
  const requestId = request.id as RequestId
  const { isStream } = decoded
  const trace = { request, protocol: format, isStream, generation: decoded.request }
  const traceparent = beginTrace(parts.tracing, trace)
  const traced = traceparent === null ? {} : { traceparent }
  const asked = { request: decoded.request, requestId, principal, origin, entrance, ...traced }
  return generate(parts.inference, asked, signal)
}

function tellLimitsOf({ parts, reply, principal, decoded }: Exchange): void {
  tellLimits(parts, reply, { principal, model: decoded.request.model })
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

function metaOf({ request, decoded, parts }: Exchange): AnswerMeta {
  return {
    requestId: request.id as RequestId,
    model: decoded.request.model,
    createdAtMs: parts.inference.clock.nowMs(),
  }
}

export type TraceStart = {
  readonly request: FastifyRequest
  readonly protocol: string
  readonly isStream: boolean
  readonly generation: GenerationRequest
}

/** Begins a request's span, inside of its caller's trace where it names one. The answer is the header for the engine. */
export function beginTrace(tracing: Tracing, { request, protocol, isStream, generation }: TraceStart): string | null {
  const { traceparent } = request.headers
  return tracing.begin({
    requestId: request.id,
    model: generation.model,
    protocol,
    isStream,
    outputTokensMax: generation.outputTokensMax,
    temperature: generation.sampling.temperature,
    traceparent: typeof traceparent === 'string' ? traceparent : null,
  })
}
