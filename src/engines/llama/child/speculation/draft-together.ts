import { trustedLength } from './speculator.ts'

/** An answer that goes on with `next`, and may be drafted. */
export type Draftable = {
  /** Tokens that a draft may have before it would be longer than the answer or its window. */
  readonly room: number
  draft(room: number): Uint32Array
}

/**
 * Tokens of one step of which some are drafted.
 *
 * By then a processor has nothing to gain from more, and a step must not take long:
 * every answer waits for it.
 */
const stepTokensMax = 32

/**
 * Drafts for all answers of a step, equally long.
 *
 * Sequences with different numbers of tokens are computed one after the other, so that an
 * answer without a draft would wait for those that have one. So one alone drafts freely, and
 * several only while all of them have something to draft.
 */
export function draftTogether(answers: readonly Draftable[], batchTokens: number): Uint32Array[] {
  const share = Math.floor(Math.min(stepTokensMax, batchTokens) / answers.length) - 1
  // Each is asked: those that draft nothing now learn whether their guesses would have been right.
  const drafts = answers.map((answer) => answer.draft(Math.max(0, Math.min(share, answer.room))))
  const length = trustedLength(Math.min(...drafts.map((draft) => draft.length)))
  return drafts.map((draft) => draft.subarray(0, length))
}
