import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestOrigin } from '../../billing/ledger/ledger-entry.ts'
import type { GenerationEvent, GenerationRequest } from '../../core/generation.ts'
import { collectAll } from '../../core/collect.ts'
import type { ApiError } from '../../core/error.ts'
import type { RequestId } from '../../core/ids.ts'
import { RequestEnded } from '../../core/request-ended.ts'
import type { ApiKeyPrincipal } from '../../core/principal.ts'
import { generate } from '../../inference/generate.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Entrance } from '../../limits/limiter.ts'
import type { FormatRoute, OpenFormat } from '../../protocols/format.ts'
import type { AnswerMeta, DecodedRequest, Protocol } from '../../protocols/protocol.ts'
import type { Tracing } from '../../telemetry/trace.ts'
import {
  admit,
  type Authenticate,
  causeOfEnd,
  modelsAsked,
  tellCountLimits,
  tellLimits,
  whenClientLeaves,
} from '../admit.ts'
import { ClientGone, SseWriter, takeOver, WholeAnswerWriter } from '../answer-writers.ts'
import { noteBreakOff } from '../connections/connection-events.ts'
import { noteFailure } from '../errors.ts'
import { requireModel } from '../middleware/authenticate.ts'
import type { Door, HttpParts } from '../parts.ts'
import { lifecycleHeaders } from './models.ts'
import { noteOrigin } from './note-origin.ts'
import { tellUnenforced } from './tell-unenforced.ts'

/** After this a stream's head is sent though no event has come, so that nothing between here and the client gives up. */
const firstEventWaitMsMax = 10_000

/** Makes the handler of one of a format's routes, for requests that are let in in one way. */
export function formatRoute(parts: Door, format: OpenFormat, { use, endpoint }: FormatRoute, byWhom: Authenticate) {
  return (use === 'generation' ? generationRoute : countTokensRoute)(parts, format, { endpoint, authenticate: byWhom })
}

type LetIn = { readonly endpoint: string; readonly authenticate: Authenticate }

/** Answers one generation, in whatever format. */
function generationRoute(parts: Door, { name: format, protocol }: OpenFormat, letIn: LetIn) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const admitted = await admit(parts, request, letIn)
    const { principal } = admitted.access
    let model: string | null = null
    let isGenerating = false
    let entrance: Entrance | null = null
    try {
      const entering = parts.inference.limiter.enter(principal)
      entrance = entering instanceof Promise ? await entering : entering
      const keptMax = parts.recorder?.bodyBytesMax(principal)
      const { shaped, bytes, received: body } = await admitted.decodeBody({ format, use: 'generation' }, keptMax)
      const decoded = { ...shaped, encoder: protocol.createEncoder(shaped.shape) }
      model = decoded.request.model
      requireModel(admitted.access, model)
      void reply.headers(lifecycleHeaders(parts.inference.catalog.find(model).model.lifecycle))
      const { signal } = admitted
      whenClientLeaves(reply.raw, admitted.abort)
      const received = {
        request,
        reply,
        principal,
        protocol: format,
        isStream: decoded.isStream,
        attribution: decoded.attribution,
        body: bytes,
      }
      const origin = noteOrigin(parts, received)
      const exchange = { parts, protocol, format, decoded, body, origin, principal, request, reply, signal, entrance }
      isGenerating = true
      await (decoded.isStream ? answerAsStream(exchange) : answerWhole(exchange))
    } catch (error) {
      // From there on the generation counts its refusals itself, since it knows whether there is a row.
      if (!isGenerating) parts.inference.refusals.count(principal.organizationId, error, model)
      tellLimits(parts, reply, { principal, models: modelsAsked(admitted.access, model) })
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
  /** As it came, where what is said is kept. */
  readonly body: Uint8Array | null
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
    await read(exchange, await starting, async (events) => {
      for await (const message of decoded.encoder.encodeStream(events, metaOf(exchange))) {
        const waiting = writer.write(message)
        if (waiting !== null) await waiting
      }
    })
    writer.end()
  } catch (thrown) {
    if (thrown instanceof ClientGone) return
    const error = causeOfEnd(thrown, signal)
    noteFailure(parts, reply, error)
    noteBreakOff(raw, nameOfEnd(error))
    writer.fail(protocol.encodeStreamError(error, exchange.request.id as RequestId))
  }
}

async function answerWhole(exchange: Exchange): Promise<void> {
  const { parts, decoded, reply, signal } = exchange
  const writer = new WholeAnswerWriter(reply, parts.inference.clock, () => tellLimitsOf(exchange))
  try {
    const answers = await read(exchange, await start(exchange), collectAll)
    const body = JSON.stringify(decoded.encoder.encodeAnswer(answers, metaOf(exchange)))
    await writer.send(body)
  } catch (thrown) {
    const error = causeOfEnd(thrown, signal)
    if (!writer.giveUp()) throw error
    noteBreakOff(reply.raw, nameOfEnd(error))
    noteFailure(parts, reply, error)
  }
}

/**
 * Reads an answer to its end. Where that breaks off, the answer is told why: a client that is gone has left it, and
 * whatever else goes wrong in reading is a failure of the service.
 */
async function read<Result>(
  { parts, request, principal, format: protocol, body }: Exchange,
  answer: AsyncGenerator<GenerationEvent>,
  work: (events: AsyncIterable<GenerationEvent>) => Promise<Result>,
): Promise<Result> {
  const recording = parts.recorder?.begin({ requestId: request.id as RequestId, principal, protocol, body }) ?? null
  const noted = async () => {
    const event = await answer.next()
    if (event.done !== true) recording?.note(event.value)
    return event
  }
  try {
    // Whoever reads cannot end it: it would not know how to say why.
    return await work({ [Symbol.asyncIterator]: () => ({ next: recording === null ? () => answer.next() : noted }) })
  } catch (error) {
    if (error instanceof ClientGone) await answer.return(undefined)
    else await answer.throw(error).catch(() => {})
    throw error
  } finally {
    recording?.end()
  }
}

function nameOfEnd(error: ApiError): string {
  return error instanceof RequestEnded ? error.endCause : error.code
}

async function start(exchange: Exchange): Promise<AsyncGenerator<GenerationEvent>> {
  const { parts, format, decoded, origin, principal, request, reply, signal, entrance } = exchange
  const requestId = request.id as RequestId
  const { isStream } = decoded
  const trace = { request, protocol: format, isStream, generation: decoded.request }
  const traceparent = beginTrace(parts.tracing, trace)
  const traced = traceparent === null ? {} : { traceparent }
  const asked = { request: decoded.request, requestId, principal, origin, entrance, ...traced }
  const generation = await generate(parts.inference, asked, signal)
  if (generation.unenforced.length > 0) tellUnenforced(parts, { request, reply }, generation.unenforced)
  return generation
}

function tellLimitsOf({ parts, reply, principal, decoded }: Exchange): void {
  tellLimits(parts, reply, { principal, models: [decoded.request.model] })
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

/** Answers with the exact length of the prompt that the same request would have. */
function countTokensRoute(parts: Door, { name: format, protocol }: OpenFormat, letIn: LetIn) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const admitted = await admit(parts, request, letIn)
    const { principal } = admitted.access
    let model: string | null = null
    let leave = () => {}
    try {
      leave = parts.counter.enter(principal)
      const { shaped } = await admitted.decodeBody({ format, use: 'count' })
      const { request: counted, shape } = shaped
      model = counted.model
      requireModel(admitted.access, model)
      const asked = { request: counted, requestId: request.id as RequestId, principal }
      const { signal } = admitted
      whenClientLeaves(reply.raw, admitted.abort)
      const inputTokens = await parts.counter.count(asked, signal).catch((thrown: unknown) => {
        throw causeOfEnd(thrown, signal)
      })
      tellCountLimits(parts, reply, { principal, models: [model] })
      await reply.type('application/json').send(JSON.stringify(protocol.count?.encode(inputTokens, shape)))
    } catch (error) {
      parts.inference.refusals.count(principal.organizationId, error)
      tellCountLimits(parts, reply, { principal, models: modelsAsked(admitted.access, model) })
      throw error
    } finally {
      leave()
      admitted.end()
    }
  }
}
