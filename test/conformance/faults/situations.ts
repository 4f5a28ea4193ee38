import {
  answer,
  beginning,
  brokenAtOnce,
  brokenInText,
  gone,
  goneInText,
  refused,
  whole,
  type Faults,
} from './faulty-service.ts'
import type { Way } from './outcome.ts'

/** What a user may have in the end. */
export type Ending = {
  /** Null is an error. */
  readonly text: string | null
  readonly requests: number
  /** What a stream had shown by then; the whole text unless said otherwise. */
  readonly shown?: string
}

export type Situation = {
  readonly faults: Faults
  /** Any of these is good. */
  readonly endings: Readonly<Record<Way, readonly Ending[]>>
  /** How long the client has to wait before it asks again. */
  readonly waitMs?: number
}

const answered: Ending = { text: answer, requests: 1 }
const askedAgain: Ending = { text: answer, requests: 2 }
const givenUp: Ending = { text: null, requests: 3, shown: '' }
const both = (...endings: Ending[]) => ({ whole: endings, streamed: endings })

/**
 * What passes is tried again, what does not is reported once, and a part of an answer never passes for
 * the whole. Of a whole answer nothing was shown, so nothing speaks against asking for it again.
 */
export const situations: Readonly<Record<string, Situation>> = {
  'nothing amiss': { faults: { always: whole }, endings: both(answered) },
  'a limit that passes': {
    faults: { first: [refused({ code: 'rate-limited', retryAfterMs: 1_000 })] },
    endings: both(askedAgain),
    // The clocks of the two sides differ by a little.
    waitMs: 950,
  },
  'a failure': { faults: { first: [refused({ code: 'internal' })] }, endings: both(askedAgain) },
  'an engine that is lost before it begins': {
    faults: { first: [refused({ code: 'engine-failed' })] },
    endings: both(askedAgain),
  },
  'a full service': {
    faults: { first: [refused({ code: 'overloaded', retryAfterMs: 1_000 })] },
    endings: both(askedAgain),
  },
  'a service that stays full': {
    faults: { always: refused({ code: 'overloaded', retryAfterMs: 1_000 }) },
    endings: both(givenUp),
  },
  'a service that is gone before it answers': { faults: { first: [gone] }, endings: both(askedAgain) },
  'an engine that is lost before the first word': {
    faults: { first: [brokenAtOnce] },
    endings: { whole: [askedAgain], streamed: [{ text: null, requests: 1, shown: '' }, askedAgain] },
  },
  'an engine that is lost in the midst': {
    faults: { first: [brokenInText] },
    endings: { whole: [askedAgain], streamed: [{ text: null, requests: 1, shown: beginning }] },
  },
  'a service that is gone in the midst': {
    faults: { first: [goneInText] },
    endings: { whole: [askedAgain], streamed: [{ text: null, requests: 1, shown: beginning }] },
  },
}

/** What is wrong with how it ended, or null. `shown` is left out where nobody watched. */
export function judge(endings: readonly Ending[], ended: Ending): string | null {
  const isGood = endings.some(
    ({ text, requests, shown = text }) =>
      text === ended.text && requests === ended.requests && (ended.shown === undefined || shown === ended.shown),
  )
  return isGood ? null : `it ended with ${JSON.stringify(ended)}`
}
