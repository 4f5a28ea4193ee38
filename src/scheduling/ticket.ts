import type { EngineRequest } from '../core/generation.ts'

/** One request on its way to a slot. */
export type Ticket = Pick<EngineRequest, 'requestId' | 'owner' | 'model'> & {
  readonly bytes: number
  readonly arrivedMs: number
  readonly outputTokensMax: number
  /** Settles when the request may have a slot, or is refused one. */
  readonly decision: PromiseWithResolvers<void>
  state: 'preparing' | 'waiting' | 'running' | 'gone'
  /** Null until its prompt is prepared. */
  inputTokens: number | null
  /** The moment at which it got its slot. */
  startedMs: number
  charged: number
  cancelDeadline(): void
}

/** A request that has no slot yet, as an operator may see it. */
export type WaitingRequest = {
  readonly requestId: string
  readonly model: string
  readonly organizationId: string
  readonly apiKeyId: string
  readonly inputTokens: number | null
  readonly waitedMs: number
}

export function describeTicket(ticket: Ticket, nowMs: number): WaitingRequest {
  const { requestId, model, owner, inputTokens, arrivedMs } = ticket
  const { organizationId, apiKeyId } = owner
  return { requestId, model, organizationId, apiKeyId, inputTokens, waitedMs: Math.round(nowMs - arrivedMs) }
}
