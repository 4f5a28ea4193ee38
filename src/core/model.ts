import type { Effort, Thinking } from './generation.ts'

/** The models on offer, the default one first. */
export const modelIds = ['clarke-1.0', 'hal-1.0', 'tycho-1.0'] as const
/** The same ids in the order people are told of them. */
export const modelIdsByStrength: readonly ModelId[] = ['hal-1.0', 'clarke-1.0', 'tycho-1.0']
export type ModelId = (typeof modelIds)[number]

/** The end of a model, once the operator has announced it. */
export type Lifecycle = { readonly deprecatedAtMs: number; readonly retiresAtMs: number | null }

/** What a client may know of a model. The weights behind it have no field here, so their name cannot leak. */
export type ServedModel = {
  readonly id: ModelId
  readonly displayName: string
  readonly description: string
  /** Release date of the id, constant across restarts. */
  readonly createdAtMs: number
  /** Prompt and answer together; an answer has one token at least. */
  readonly windowTokens: number
  readonly outputTokensMax: number
  /** Null, or left out, where no end is announced. */
  readonly lifecycle?: Lifecycle | null
  readonly thinkingDefault: Thinking
  readonly thinkingByEffort: Readonly<Record<Effort, Thinking>>
}
