/** A time for all of which something has shown that it works. */
export type Span = {
  /** Counts the spans of one start of a gateway. */
  readonly number: number
  /** The model; empty is the gateway itself. */
  readonly subject: string
  fromMs: number
  untilMs: number
  /** The code of the error that ended it. */
  endedBy: string | null
}

/** Whoever sees no sign of a gateway for so long takes it for down. */
export const silenceMsMax = 30_000
/** A clock that is set moves by less than this; one that is wrong, or a machine that slept, by more. */
const jumpMsMin = silenceMsMax
/** Spans of one start that are kept in memory; a model that fails every half a minute makes these in half a week. */
const keptMax = 10_000

type Jump = { readonly byMs: number; readonly fromNumber: number }

/**
 * Makes spans of signs, by a clock that may be set.
 *
 * A jump of the clock says nothing about the service, and what it says about the time before and after is decided by
 * what comes of it:
 *
 *     ahead, and later back   the clock was wrong in between: what was written then is set back
 *     ahead, and stays        the machine slept: the gap stays
 *     back                    the clock was wrong before: all of this start is set back
 *     back, and later ahead   it was wrong in between: all is set as it was
 */
export class SpanBook {
  #spans: Span[] = []
  readonly #current = new Map<string, Span>()
  readonly #changed = new Set<Span>()
  #next = 0
  #monotonicMs: number
  #wallMs: number
  #ahead: (Jump & { readonly before: ReadonlyMap<string, Span> }) | null = null
  #behindMs = 0

  constructor(monotonicMs: number, wallMs: number) {
    this.#monotonicMs = monotonicMs
    this.#wallMs = wallMs
  }

  /** The gateway lives, and each model was last seen at its time by the clock that never jumps. */
  beat(monotonicMs: number, wallMs: number, seenMs: ReadonlyMap<string, number>): void {
    const elapsedMs = monotonicMs - this.#monotonicMs
    const jumpMs = wallMs - this.#wallMs - elapsedMs
    if (Math.abs(jumpMs) >= jumpMsMin) this.#jump(jumpMs)
    else if (elapsedMs > silenceMsMax) this.#current.clear()
    this.#monotonicMs = monotonicMs
    this.#wallMs = wallMs
    this.#extend('', wallMs)
    for (const [model, atMs] of seenMs) this.#extend(model, Math.round(wallMs - (monotonicMs - atMs)))
  }

  end(subject: string, code: string): void {
    const span = this.#current.get(subject)
    if (span === undefined) return
    span.endedBy = code
    this.#changed.add(span)
    this.#current.delete(subject)
  }

  /** The spans that have changed since the last time. */
  takeChanged(): readonly Span[] {
    const taken = [...this.#changed]
    this.#changed.clear()
    return taken
  }

  putBack(spans: readonly Span[]): void {
    for (const span of spans) this.#changed.add(span)
  }

  #extend(subject: string, atMs: number): void {
    const span = this.#current.get(subject)
    if (span === undefined) {
      const begun: Span = { number: this.#next, subject, fromMs: atMs, untilMs: atMs, endedBy: null }
      this.#next += 1
      this.#spans.push(begun)
      if (this.#spans.length > keptMax) this.#spans = this.#spans.slice(-keptMax / 2)
      this.#current.set(subject, begun)
      this.#changed.add(begun)
    } else if (atMs > span.untilMs) {
      span.untilMs = atMs
      this.#changed.add(span)
    }
  }

  #jump(byMs: number): void {
    const isReturn = (earlierMs: number) => earlierMs !== 0 && Math.abs(earlierMs + byMs) < jumpMsMin
    if (byMs > 0) {
      if (isReturn(this.#behindMs)) {
        this.#shift(byMs, 0)
        this.#behindMs = 0
        return
      }
      this.#ahead = { byMs, fromNumber: this.#next, before: new Map(this.#current) }
      this.#current.clear()
      return
    }
    const ahead = this.#ahead
    if (ahead !== null && isReturn(ahead.byMs)) {
      this.#shift(byMs, ahead.fromNumber)
      this.#join(ahead.before, ahead.fromNumber)
      this.#ahead = null
    } else {
      this.#shift(byMs, 0)
      this.#behindMs += byMs
    }
  }

  #shift(byMs: number, fromNumber: number): void {
    for (const span of this.#spans.filter(({ number }) => number >= fromNumber)) {
      span.fromMs += byMs
      span.untilMs += byMs
      this.#changed.add(span)
    }
  }

  /** What went on before a jump went on after it. */
  #join(before: ReadonlyMap<string, Span>, fromNumber: number): void {
    for (const [subject, last] of before) {
      const first = this.#spans.find((span) => span.number >= fromNumber && span.subject === subject)
      if (first === undefined) this.#current.set(subject, last)
      else first.fromMs = Math.min(first.fromMs, last.untilMs)
    }
  }
}
