/** A client that repeats by itself does so within this. */
export const repeatMsMax = 10 * 60_000
/**
 * How long what became of an answer is kept. A charge bears the time of the gateway that wrote it: one whose clock is
 * half an hour ahead seems to be within the time of repetitions for as much longer.
 */
export const keptMs = 4 * repeatMsMax
/** How often a gateway says of answers that they are still on their way. */
export const underWayEveryMs = 15_000
/** A gateway of which nothing has been heard for so long is gone: it could not write what became of its answers. */
export const goneMs = 3 * underWayEveryMs
