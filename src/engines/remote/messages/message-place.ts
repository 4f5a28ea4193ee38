import type { RoutingReason } from '../../../core/engine.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import type { ReplicaFault } from '../dialect.ts'
import type { AnswerPlace } from '../pooled-answer.ts'
import type { MessageFacts, MessageRequest, MessageStep } from './message-dialect.ts'

/** Where answers of servers are made that take messages: the replicas of one pool. */
export type MessagePlace = AnswerPlace & {
  /** Resolves with the window when there is a server that can be asked. */
  ready(signal: AbortSignal): Promise<{ readonly windowTokens: number }>
  begin(asked: AskedServer, signal: AbortSignal): Promise<RunningServer>
  takeRetry(asked: AskedServer): boolean
}

export type AskedServer = {
  readonly request: EngineRequest
  /** Servers that have failed this request. */
  readonly excluded: ReadonlySet<string>
  readonly retries: number
}

/** A server that has room for a request. */
export type RunningServer = {
  readonly replicaId: string
  readonly routing: RoutingReason
  readonly facts: MessageFacts
  ask(request: MessageRequest): AsyncGenerator<readonly MessageStep[]>
  end(outputTokens: number, fault: ReplicaFault | null): void
}
