import type { Clock } from '../../lib/clock.ts'
import type { ConfinementReport } from './confinement/plan.ts'
import type { Weights } from './gguf/inspect-weights.ts'
import type { LoadSettings } from './ipc.ts'
import type { ConfinementMode } from './launch-child.ts'

/** What the children of one file of weights have in common. */
export type ChildOptions = {
  readonly settings: LoadSettings
  /** What the child may know of the service's environment: no secret is in it. */
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly confinement?: ConfinementMode
  /** Memory of its own that a child with these weights may have; the machine's where nothing is said. */
  memoryBytesMax?(weights: Weights): number
  /** Looks the weights over before each load, and throws where they may not be loaded. Always at least `inspectWeights`. */
  checkWeights?(signal: AbortSignal): Promise<Weights>
  /** Loading that does not advance for this long is given up; by default it depends on the weights' size. */
  readonly loadingStallMsMax?: number | null
  /** Whether the driver of a card by NVIDIA may run in a child; left out, whatever this machine has. */
  hasNvidiaCard?(): boolean
  /** Called with the confinement of a child that begins. */
  onConfined?(report: ConfinementReport): void
  /** The child is gone; whatever it was doing is lost. */
  onExit(reason: string): void
  /** A child that was put to sleep is gone, and nothing is lost. */
  onAsleep?(): void
  /** A line the child wrote to its standard output or error. */
  onOutput(line: string): void
}
