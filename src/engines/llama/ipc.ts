import type { FitnessReport } from '../../chat-format/fitness-report.ts'
import type { RopeScaling } from '../../config/models-schema.ts'
import type { ApiErrorReason, ErrorPath } from '../../core/error.ts'
import type { EngineRequest, GenerationEvent, Usage } from '../../core/generation.ts'
import type { Portion } from '../../lib/portions.ts'
import type { ModelText } from '../text/model-text.ts'
import type { PreparedText } from '../text/prepared-text.ts'
import type { ChatOverrides } from '../text/text-tools.ts'

/** Names one generation or count between the service and its children. */
export type TaskId = number

/** Messages to the engine child. */
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
      readonly optimisticTerms: OptimisticTerms | null
    }
  /** A prepared task may have a slot. */
  | ({ readonly kind: 'begin'; readonly id: TaskId } & OutputTerms)
  /** The answer may grow to so many tokens; if that is the last word, it ends there. */
  | { readonly kind: 'allow'; readonly id: TaskId; readonly outputTokens: number; readonly isLast: boolean }
  | { readonly kind: 'abort'; readonly id: TaskId }
  /** The consumer has taken this many events; the child stops decoding a task whose events pile up. */
  | { readonly kind: 'taken'; readonly id: TaskId; readonly events: number }
  /** The room for prompts that have left their slots has changed. */
  | { readonly kind: 'resize-cache'; readonly bytesMax: number }
  | { readonly kind: 'ping' }
  /** Save what is worth saving and end. */
  | { readonly kind: 'stop' }

/** Messages to the text child, which makes text into tokens and knows nothing but the vocabulary. */
export type ToTextChild =
  | { readonly kind: 'load'; readonly settings: LoadSettings }
  /** Prepare a generation; a prompt beyond the window is refused. */
  | { readonly kind: 'prepare'; readonly id: TaskId; readonly request: EngineRequest; readonly windowTokens: number }
  | { readonly kind: 'count'; readonly id: TaskId; readonly request: EngineRequest }
  /** Say what a gateway has to know to read the model's tokens. */
  | { readonly kind: 'describe' }
  | { readonly kind: 'abort'; readonly id: TaskId }
  | { readonly kind: 'ping' }
  | { readonly kind: 'stop' }

/** Parts of a message that is too large to be sent at a stroke; the message counts once all of them have come. */
export type PartToChild =
  | { readonly kind: 'part'; readonly id: TaskId; readonly portion: Portion }
  | { readonly kind: 'end-of-parts'; readonly id: TaskId }

export type FromChild =
  | {
      readonly kind: 'ready'
      readonly windowTokens: number
      readonly slots: number
      /** Beyond the slots, for whoever has none when these are taken. */
      readonly guestSlots: number
      /** Processor threads that compute the first step, and the most that may compute one. */
      readonly threads: number
      readonly threadsMost: number
      /** The graphics cards that compute; null where the processor alone does. */
      readonly cards: CardsInUse | null
      /** No token of the vocabulary stands for more bytes. */
      readonly tokenBytesMax: number
      /** What was derived from the model's template. */
      readonly fitness: FitnessReport
    }
  /** How far loading has come, which only ever grows: up to 1 while weights are read, and on until all is ready. */
  | { readonly kind: 'loading'; readonly progress: number }
  | { readonly kind: 'load-failed'; readonly message: string }
  | {
      readonly kind: 'prepared'
      readonly id: TaskId
      readonly inputTokens: number
      readonly unenforced: readonly ErrorPath[]
    }
  /** What one decode step made, or some quick ones together, for all tasks: one message instead of one a token. */
  | { readonly kind: 'events'; readonly batch: EventBatch }
  /** Half of the output tokens that were allowed last have been made. */
  | { readonly kind: 'nearly-used'; readonly id: TaskId }
  | { readonly kind: 'aborted'; readonly id: TaskId; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly id: TaskId; readonly reason: ApiErrorReason; readonly message: string }
  /** `steps` grows with every decode step, so that a stalled decode can be told from a long one. */
  | { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean; readonly drafts: DraftCounts }

export type EventBatch = readonly (readonly [id: TaskId, event: GenerationEvent])[]

export type FromTextChild =
  | { readonly kind: 'ready' }
  | { readonly kind: 'load-failed'; readonly message: string }
  | { readonly kind: 'text'; readonly id: TaskId; readonly text: PreparedText }
  | { readonly kind: 'counted'; readonly id: TaskId; readonly tokens: number }
  | { readonly kind: 'described'; readonly model: ModelText }
  | { readonly kind: 'failed'; readonly id: TaskId; readonly reason: ApiErrorReason; readonly message: string }
  /** `steps` grows with every portion of text. */
  | { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean }

/** The terms on which a child may begin a prompt before the service has counted it, if the prompt is no longer than expected. */
export type OptimisticTerms = OutputTerms & { readonly inputTokensMax: number }

export type OutputTerms = {
  readonly outputTokensMax: number
  /** The tokens that may be made before the gateway allows more; null where the child need not wait for that. */
  readonly firstOutputTokens: number | null
}

/** Graphics cards, the driver's kind of them, and how many of the weights' layers lie in their memory. */
export type CardsInUse = {
  readonly kind: 'cuda' | 'vulkan' | 'metal'
  readonly names: readonly string[]
  readonly layers: number
  readonly layersAll: number
}

/** Tokens that a child has computed ahead, and those of them that its answers then had. */
export type DraftCounts = { readonly drafted: number; readonly accepted: number }

/** Bytes of one number in the attention's memory. Blocks of 32 share a scale of 16 bits. */
export const kvCacheBytes = { f16: 2, q8_0: 34 / 32, q4_0: 18 / 32 } as const
export type KvCacheType = keyof typeof kvCacheBytes

export type LoadSettings = {
  readonly weightsPath: string
  readonly gpu: 'auto' | 'off' | 'cuda' | 'vulkan' | 'metal'
  /** Null lets the child choose by the memory there is. */
  readonly slots: number | null
  readonly windowTokensMax: number
  /** Left out, numbers of 16 bits. */
  readonly kvCacheType?: KvCacheType
  /** Stretches the positions of the training over a longer window. */
  readonly ropeScaling?: RopeScaling | null
  /** Left out, everything is as it was derived from the chat template. */
  readonly chat?: ChatOverrides | null
  readonly threads: number | null
  readonly batchTokens: number
  /** Steps of prompts are as large as a batch, however long they take, so that answers can be compared with each other. */
  readonly stepsBySize?: boolean
  /** Decodes each answer by itself, so that it comes out the same whatever else is under way. */
  readonly isReproducible: boolean
  /** Weights are copied into the child's memory, where it computes on the processor; left out, they are mapped from their file. */
  readonly copiesWeights?: boolean
  /** Tokens that may be guessed from the text and computed ahead; zero computes none ahead. */
  readonly draftTokensMax: number
  /** The memory in which prompts are kept that have left their slots. */
  readonly cacheBytesMax: number
  /** Where they are kept over a restart; null keeps nothing. */
  readonly cacheOnDisk: { readonly folder: string; readonly bytesMax: number; readonly key: Uint8Array } | null
}

/** Slots an operator's choice is missing for: enough for a team's agents, few enough for one machine's memory. */
export const slotsDefault = 8

/** With fewer slots, the memory of one more would be a large part of all. */
const guestSlotsFrom = 4

/** Slots with the one beyond them that is kept for whoever has none when others have taken all. */
export function withGuestSlots(slots: number): number {
  return slots < guestSlotsFrom ? slots : slots + 1
}

/** Events a task may have on their way before its slot waits for the consumer. */
export const eventsInFlightMax = 256

const kindsFromChild: ReadonlySet<string> = new Set<FromChild['kind']>([
  'ready',
  'loading',
  'load-failed',
  'prepared',
  'nearly-used',
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
  'described',
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
