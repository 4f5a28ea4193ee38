import type { GenerationRecord } from './generation-record.ts'

/** What a span says of a request; conversations never stand in it. */
export type TracedRequest = {
  readonly requestId: string
  readonly model: string
  readonly protocol: string
  readonly isStream: boolean
  readonly outputTokensMax: number | null
  readonly temperature: number | null
  /** The W3C header with which the caller continues a trace of its own. */
  readonly traceparent: string | null
}

/** Follows requests through the service, in the terms of OpenTelemetry's conventions for generative AI. */
export interface Tracing {
  /** Begins the request's span. The answer is the header that whoever is asked next is sent. */
  begin(request: TracedRequest): string | null
  /** Ends the span with what became of the request. */
  record(record: GenerationRecord): void
  /** The request never became a generation. Does nothing where `record` was called. */
  refuse(requestId: string, code: string): void
  /** Sends what has not been sent. */
  close(): Promise<void>
}

/** Follows nothing; a caller's header is handed on as it came. */
export const noTracing: Tracing = {
  begin: ({ traceparent }) => traceparent,
  record() {},
  refuse() {},
  close: () => Promise.resolve(),
}
