import type { Edit } from './plan-edits.ts'

/** The text of a settings file, understood. */
export type SettingsText = {
  readonly value: unknown
  /** The text with these changes; everything else, comments too, stays where it is. */
  edit(edits: readonly Edit[]): string
}
