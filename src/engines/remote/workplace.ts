import type { RoutingReason } from '../../core/engine.ts'
import type { ApiError } from '../../core/error.ts'
import type { EngineRequest } from '../../core/generation.ts'
import type { ModelText, TableReader } from '../text/model-text.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import type { Leg } from './answer-course.ts'
import type { ReplicaFault, TokenStep } from './dialect.ts'

/** Where an answer's legs are run: the replicas of one pool. */
export type Workplace = {
  /** What is known of the model's text; rejects while nothing is. */
  model(
    signal: AbortSignal,
  ): Promise<{ readonly model: ModelText; readonly reader: TableReader; readonly windowTokens: number }>
  /** The tokens of the prompt, and what the answer must keep. */
  text(request: EngineRequest, windowTokens: number, signal: AbortSignal): Promise<PreparedText>
  /** Begins a leg at a replica as soon as one has room. */
  begin(asked: AskedLeg, signal: AbortSignal): Promise<RunningLeg>
  /** The length of a prompt that is not going to be run. */
  count(request: EngineRequest, signal: AbortSignal): Promise<number>
  /** Whether an answer that its client has a part of may go on elsewhere. */
  mayResume(request: EngineRequest, isUnderGrammar: boolean): boolean
  /** Takes a further try for a leg that failed, if there is one, and a replica for it. */
  takeRetry(asked: AskedLeg): boolean
  /** What a request is told that no replica can take. */
  unavailable(): ApiError
  /** The request is over. */
  leave(answer: UnderWay): void
  random(): number
}

/** A request, as far as its workplace has to know it. */
export type UnderWay = {
  /** Whether it was run, and a replica works on it or will. */
  readonly isRunning: boolean
}

export type AskedLeg = {
  readonly leg: Leg
  readonly request: EngineRequest
  /** Replicas that have failed this request. */
  readonly excluded: ReadonlySet<string>
  /** The tries of this request before, its first legs aside. */
  readonly retries: number
}

/** A leg under way. Its steps throw a ReplicaFault where it fails; whoever stops reading them ends it. */
export type RunningLeg = {
  readonly replicaId: string
  readonly routing: RoutingReason
  readonly steps: AsyncIterableIterator<readonly TokenStep[]>
  /**
   * Has the replica end it, where it says only then how much of the prompt it had: the steps go on until then. False, and
   * nothing is done, elsewhere.
   */
  stop(): boolean
  /** The replica has done what it was asked for, or will not. */
  end(outputTokens: number, fault: ReplicaFault | null): void
}
