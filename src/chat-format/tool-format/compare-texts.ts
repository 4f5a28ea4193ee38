/** How many characters two texts share at their beginning. */
export function sharedStart(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let length = 0
  while (length < max && a[length] === b[length]) length++
  return length
}

/** How many characters two texts share at their end. */
export function sharedEnd(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let length = 0
  while (length < max && a[a.length - 1 - length] === b[b.length - 1 - length]) length++
  return length
}

/**
 * Whether a marker may well end at `index`.
 *
 * Two markers that follow each other often share characters with their
 * neighbours (`</a><` and `</a></`), so where a comparison stops is not where a
 * marker stops; punctuation tells.
 */
export function isSeam(text: string, index: number): boolean {
  if (index === 0 || index === text.length) return true
  const [before = '', after = ''] = [text[index - 1], text[index]]
  if (/\s/u.test(after)) return /[^\p{L}\p{N}_]/u.test(before) && !opening.test(before)
  return (/[\s:;,"'`]/u.test(before) || closing.test(before)) && (/["'`]/u.test(after) || opening.test(after))
}

/** Brackets of any script, and the signs that serve as such. */
const opening = /[<◁\p{Ps}\p{Pi}]/u
const closing = /[>▷\p{Pe}\p{Pf}]/u

/** No marker of a known model is longer. */
const markerLengthMax = 64

/**
 * Where the marker begins that a comparison has stopped in.
 *
 * Two markers in the same place often begin alike (`<think>` and `</think>`), and what they share is
 * a part of both. A marker holds no white space.
 */
export function findMarkerStart(text: string, at: number): number {
  const startsHere = opening.test(text[at] ?? '') && !opening.test(text[at - 1] ?? '')
  if (startsHere || /\s/u.test(text[at] ?? '')) return at
  for (let index = at; index > 0 && at - index < markerLengthMax; index--) {
    if (isSeam(text, index) || /\s/u.test(text[index - 1] ?? '')) return index
  }
  return at
}

/** The seam nearest to `preferred` in a range, which the range's own end stands in for where there is none. */
export function findSeam(text: string, first: number, last: number): number {
  for (let index = last; index >= first; index--) {
    if (!isSeam(text, index)) continue
    // White space between two markers belongs to the second.
    let start = index
    while (start > first && /\s/u.test(text[start - 1] ?? '') && isSeam(text, start - 1)) start--
    return start
  }
  return last
}

/**
 * Splits what stands between two neighbours into the end of the first, a
 * separator and the beginning of the second, given what follows the last
 * neighbour and what precedes the first.
 */
export function splitBetween(between: string, after: string, before: string) {
  const closeMax = sharedStart(between, after)
  const openMax = sharedEnd(between, before)
  if (closeMax + openMax > between.length) {
    const cut = findSeam(between, between.length - openMax, closeMax)
    return { close: between.slice(0, cut), separator: '', open: between.slice(cut) }
  }
  const closeEnd = closeMax === after.length ? closeMax : lastSeam(after, closeMax)
  const openLength = openMax === before.length ? openMax : openMax - nextSeam(before.slice(before.length - openMax))
  return {
    close: between.slice(0, closeEnd),
    separator: between.slice(closeEnd, between.length - openLength),
    open: between.slice(between.length - openLength),
  }
}

function lastSeam(text: string, end: number): number {
  for (let index = end; text.slice(0, index).trim() !== ''; index--) if (isSeam(text, index)) return index
  return end
}

function nextSeam(text: string): number {
  if (/^[\s<[({"'`]/u.test(text)) return 0
  for (let index = 1; index < text.length; index++) if (isSeam(text, index)) return index
  return 0
}
