import type { ApiErrorReason } from '../../core/error.ts'
import type { EngineRequest, GenerationEvent, Usage } from '../../core/generation.ts'
import type { Portion } from '../../lib/portions.ts'
import type { PreparedText } from './prepared-text.ts'

/** Names one generation or count between the service and its children. */
export type TaskId = number

/** What the engine child is told. */
export type ToChild =
  | { readonly kind: 'load'; readonly settings: LoadSettings }
  | {
      readonly kind: 'generate'
      readonly id: TaskId
      readonly request: EngineRequest
      /** What the text child made of the request, whose messages are then left out; null for a short one. */
      readonly text: PreparedText | null
      /**
       * The child prepares it, says so, and waits for `begin`; where this is given and the prompt has no more tokens
       * than it says, it begins on its terms and does not wait.
       */
      readonly headStart: HeadStart | null
    }
  /** A prepared task may have a slot. */
  | { readonly kind: 'begin'; readonly id: TaskId; readonly outputTokensMax: number }
  | { readonly kind: 'abort'; readonly id: TaskId }
  /** The consumer has taken this many events; the child stops decoding a task whose events pile up. */
  | { readonly kind: 'taken'; readonly id: TaskId; readonly events: number }
  /** The room for prompts that have left their slots has changed. */
  | { readonly kind: 'resize-cache'; readonly bytesMax: number }
  | { readonly kind: 'ping' }
  /** Save what is worth saving and end. */
  | { readonly kind: 'stop' }

/** What the text child is told, which makes text into tokens and knows nothing but the vocabulary. */
export type ToTextChild =
  | { readonly kind: 'load'; readonly settings: LoadSettings }
  /** Prepare a generation; a prompt beyond the window is refused. */
  | { readonly kind: 'prepare'; readonly id: TaskId; readonly request: EngineRequest; readonly windowTokens: number }
  | { readonly kind: 'count'; readonly id: TaskId; readonly request: EngineRequest }
  | { readonly kind: 'abort'; readonly id: TaskId }
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop' }

/** Of a message that is too large to be sent at a stroke; it holds once all of it has come. */
export type PartToChild =
  | { readonly kind: 'part'; readonly id: TaskId; readonly portion: Portion }
  | { readonly kind: 'end-of-parts'; readonly id: TaskId }

export type FromChild =
  | {
      readonly kind: 'ready'
      readonly windowTokens: number
      readonly slots: number
      /** Processor threads that compute a step. */
      readonly threads: number
      /** No token of the vocabulary stands for more bytes. */
      readonly tokenBytesMax: number
      /** The model's template can carry tool calls. */
      readonly takesTools: boolean
    }
  /** How far loading has come, which only ever grows: up to 1 while weights are read, and on until all is ready. */
  | { readonly kind: 'loading'; readonly progress: number }
  | { readonly kind: 'load-failed'; readonly message: string }
  | { readonly kind: 'prepared'; readonly id: TaskId; readonly inputTokens: number }
  /** Everything one decode step produced, for all tasks: one message a step instead of one a token. */
  | { readonly kind: 'events'; readonly batch: readonly (readonly [id: TaskId, event: GenerationEvent])[] }
  | { readonly kind: 'aborted'; readonly id: TaskId; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly id: TaskId; readonly reason: ApiErrorReason; readonly message: string }
  /** `steps` grows with every decode step, so that a stalled decode can be told from a long one. */
  | { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean; readonly drafts: DraftCounts }

export type FromTextChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'load-failed'; readonly message: string }
  | { readonly kind: 'text'; readonly id: TaskId; readonly text: PreparedText }
  | { readonly kind: 'counted'; readonly id: TaskId; readonly tokens: number }
  | { readonly kind: 'failed'; readonly id: TaskId; readonly reason: ApiErrorReason; readonly message: string }
  /** `steps` grows with every portion of text. */
  | { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean }

export type HeadStart = { readonly inputTokensMax: number; readonly outputTokensMax: number }

/** Tokens that a child has computed ahead, and those of them that its answers then had. */
export type DraftCounts = { readonly drafted: number; readonly accepted: number }

export type LoadSettings = {
  readonly weightsPath: string
  readonly gpu: 'auto' | 'off' | 'cuda' | 'vulkan' | 'metal'
  /** Null lets the child choose by the memory there is. */
  readonly slots: number | null
  readonly windowTokensMax: number
  readonly threads: number | null
  readonly batchTokens: number
  /** Steps of prompts are as large as a batch, however long they take: where each answer is to be compared with another. */
  readonly stepsBySize?: boolean
  /** Decodes each answer by itself, so that it comes out the same whatever else is under way. */
  readonly isReproducible: boolean
  /** Tokens that may be guessed from the text and computed ahead; zero computes none ahead. */
  readonly draftTokensMax: number
  /** Prompts that have left their slots are kept in memory up to so many bytes. */
  readonly cacheBytesMax: number
  /** Where they are kept over a restart; null keeps nothing. */
  readonly cacheOnDisk: { readonly folder: string; readonly bytesMax: number; readonly key: Uint8Array } | null
}

/** Slots an operator's choice is missing for: enough for a team's agents, few enough for one machine's memory. */
export const slotsDefault = 8

/** Events a task may have on their way before its slot waits for the consumer. */
export const eventsInFlightMax = 256

const kindsFromChild: ReadonlySet<string> = new Set<FromChild['kind']>([
  'ready',
  'loading',
  'load-failed',
  'prepared',
  'events',
  'aborted',
  'failed',
  'pong',
])

const kindsFromTextChild: ReadonlySet<string> = new Set<FromTextChild['kind']>([
  'ready',
  'load-failed',
  'text',
  'counted',
  'failed',
  'pong',
])

/** A child that says something else is not to be trusted any more. */
export function isFromChild(message: unknown): message is FromChild {
  return isOfKinds(message, kindsFromChild)
}

export function isFromTextChild(message: unknown): message is FromTextChild {
  return isOfKinds(message, kindsFromTextChild)
}

function isOfKinds(message: unknown, kinds: ReadonlySet<string>): boolean {
  return typeof message === 'object' && message !== null && 'kind' in message && kinds.has(String(message.kind))
}
