import type { Anchors } from '../../accounts/audit/anchors.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { MemberPrincipal } from '../../core/principal.ts'
import type { Amounts } from '../../limits/budgets/budget-account.ts'
import type { RequestHead } from '../middleware/authenticate.ts'

/** One loaded file's queue; keys are named by their ids, weights not at all. */
export type QueueStatus = {
  readonly models: readonly string[]
  readonly slots: number
  readonly running: number
  readonly waiting: number
  readonly oldestWaitMs: number
  readonly upcoming: readonly {
    readonly position: number
    readonly requestId: string
    readonly model: string
    readonly organizationId: string
    readonly apiKeyId: string
    readonly inputTokens: number | null
    readonly waitedMs: number
  }[]
}

/** What the management API stands on. */
export type ManagementParts = {
  readonly accounts: AccountsParts
  /** Encrypts answers that are kept for requests that are sent again. */
  readonly storedAnswerKey: Uint8Array
  /** Puts changed limits and budgets into force at once. */
  limitsChanged(): Promise<void>
  /** What requests under way have reserved of a budget; null where nothing was asked of it yet. */
  reservedOf(budgetId: string): Amounts | null
  readQueues(): readonly QueueStatus[]
  readAnchors(): Anchors
  /**
   * Whose session a request belongs to; absent where nobody can sign in.
   *
   * A browser sends its cookies also for other sites, so whoever finds a session refuses what those ask for.
   */
  findSession?(head: RequestHead): Promise<MemberPrincipal | null>
}
