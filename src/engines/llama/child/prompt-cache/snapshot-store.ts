import { dropAll, livePins, pinnedLength, type HeldPrefix } from './held-prefix.ts'
import type { SequenceMemory } from './sequence-memory.ts'
import type { SavedState } from './state-room.ts'

/** A prefix that had to leave its slot. */
export type Snapshot = HeldPrefix & {
  readonly state: SavedState
  /** The number of tokens in `state`; `tokens` may have become fewer. */
  readonly stateLength: number
  readonly lastUsedMs: number
}

export interface SnapshotStore {
  /** The snapshots of one organization. */
  of(namespace: string): readonly Snapshot[]
  /** Whether there is a point in making a snapshot. */
  readonly isOn: boolean
  add(snapshot: Snapshot): void
  /** Whether it can be added at nobody's cost. */
  hasRoomFor(snapshot: Snapshot): boolean
  /** Gives a snapshot away, its checkpoints and its state with it. */
  take(snapshot: Snapshot): void
  /** Drops what has outlived the lifetimes it was kept for. */
  expire(nowMs: number): void
  readonly bytes: number
  /** Grants more or less room; what is too much then goes at once. */
  resize(bytesMax: number): void
}

/**
 * Keeps snapshots in memory up to a number of bytes.
 *
 * Room is made at the cost of the organization that holds most, so that one that sends
 * many long prompts cannot empty the cache of the others; what a client asked to keep
 * goes last.
 */
export function createSnapshotStore(memory: SequenceMemory, initialBytesMax: number): SnapshotStore {
  let bytesMax = initialBytesMax
  const snapshots = new Set<Snapshot>()
  const sum = (some: Iterable<Snapshot>) => [...some].reduce((total, snapshot) => total + sizeOf(snapshot), 0)

  function remove(snapshot: Snapshot): void {
    if (!snapshots.delete(snapshot)) return
    dropAll(memory, snapshot.checkpoints)
    snapshot.state.drop()
  }

  function leastWorth(): Snapshot | undefined {
    const loose = [...snapshots].filter(({ pins }) => pins.length === 0)
    const [largest] = [...Map.groupBy(loose, ({ namespace }) => namespace).values()].toSorted((a, b) => sum(b) - sum(a))
    if (largest !== undefined) return largest.toSorted((a, b) => a.lastUsedMs - b.lastUsedMs)[0]
    return [...snapshots].toSorted((a, b) => endOf(a) - endOf(b))[0]
  }

  function makeRoom(): void {
    for (let bytes = sum(snapshots); bytes > bytesMax; bytes = sum(snapshots)) {
      const victim = leastWorth()
      if (victim === undefined) return
      remove(victim)
    }
  }

  return {
    get bytes() {
      return sum(snapshots)
    },
    of: (namespace) => [...snapshots].filter((snapshot) => snapshot.namespace === namespace),
    get isOn() {
      return bytesMax > 0
    },
    hasRoomFor: (snapshot) => sum([...snapshots, snapshot]) <= bytesMax,
    resize(bytes) {
      bytesMax = bytes
      makeRoom()
    },
    take: (snapshot) => void snapshots.delete(snapshot),
    add(snapshot) {
      snapshots.add(snapshot)
      makeRoom()
    },
    expire(nowMs) {
      for (const snapshot of snapshots) {
        const pins = livePins(snapshot.pins, nowMs)
        if (pins === snapshot.pins) continue
        const length = pinnedLength(pins, snapshot.tokens.length)
        snapshots.delete(snapshot)
        dropAll(
          memory,
          snapshot.checkpoints.filter((checkpoint) => checkpoint.length > length),
        )
        if (length === 0) {
          snapshot.state.drop()
          continue
        }
        const checkpoints = snapshot.checkpoints.filter((checkpoint) => checkpoint.length <= length)
        snapshots.add({ ...snapshot, pins, checkpoints, tokens: snapshot.tokens.subarray(0, length) })
      }
    },
  }
}

function sizeOf({ state, tokens, checkpoints }: Snapshot): number {
  return state.bytes + tokens.byteLength + checkpoints.reduce((bytes, checkpoint) => bytes + checkpoint.bytes, 0)
}

function endOf({ pins }: Snapshot): number {
  return Math.max(...pins.map(({ untilMs }) => untilMs))
}
