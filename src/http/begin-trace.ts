import type { FastifyRequest } from 'fastify'
import type { GenerationRequest } from '../core/generation.ts'
import type { Tracing } from '../telemetry/trace.ts'

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
