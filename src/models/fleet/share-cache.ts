export type Sharer<Engine> = { readonly engine: Engine; readonly isHeld: boolean }

/**
 * Divides the room for prompts among the engines: evenly among those that somebody holds.
 *
 * One that only finishes what it has begun is given none, and gives up its room before the others
 * grow: no further prompt comes to it.
 */
export function shareCache<Engine>(
  engines: readonly Sharer<Engine>[],
  bytesMax: number,
): { readonly engine: Engine; readonly bytes: number }[] {
  const held = engines.filter(({ isHeld }) => isHeld).length
  const share = Math.floor(bytesMax / Math.max(1, held))
  return engines
    .map(({ engine, isHeld }) => ({ engine, bytes: isHeld ? share : 0 }))
    .toSorted((a, b) => a.bytes - b.bytes)
}
