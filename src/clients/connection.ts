import type { ClientFolders } from '../config/load.ts'
import type { ServedModel } from '../core/model.ts'

/** The two wire formats, by the names that the command line has for them. */
export const formats = ['chat', 'messages'] as const
export type Format = (typeof formats)[number]

export type OfferedModel = Pick<ServedModel, 'id' | 'displayName' | 'windowTokens' | 'outputTokensMax'>

/** What the settings of any client are made of. */
export type Connection = {
  /** Without `/v1` and without a slash at its end. */
  readonly address: string
  /** Null while there is none. */
  readonly key: string | null
  readonly format: Format
  /** The model to work with, and the small one for titles and the like. */
  readonly model: OfferedModel
  readonly smallModel: OfferedModel
  /** All of them, the one to work with first. */
  readonly models: readonly OfferedModel[]
  readonly folders: ClientFolders
}

/** Stands in settings files where the key belongs, as long as there is none. */
export const keyPlaceholder = 'YOUR_ODYSSEY_KEY'

export function keyToWrite({ key }: Connection): string {
  return key ?? keyPlaceholder
}

/** What agents ask for by themselves when they know nothing of a model. */
const outputTokensUsual = 32_000

/**
 * How long an answer a client should count on.
 *
 * Agents take this off the window before they fill it. A model that may answer
 * with as much as its window holds would leave them nothing for the prompt.
 */
export function plannedOutputTokens({ windowTokens, outputTokensMax }: OfferedModel): number {
  return Math.min(outputTokensMax, outputTokensUsual, Math.floor(windowTokens / 3))
}
