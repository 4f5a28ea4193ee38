/** What a child may reach. Folders stand for all that is in them; paths that do not exist are passed over. */
export type ReachablePaths = {
  readonly read: readonly string[]
  /** Folders whose names of files may be read, and none of their content. */
  readonly list: readonly string[]
  /** Read, changed, made and removed. */
  readonly write: readonly string[]
  /** Devices, which are read, written and given commands. */
  readonly devices: readonly string[]
  /** Programs that may be started, the child's own above all. */
  readonly execute: readonly string[]
}

/** Made by the service, put into force by the child's first stage before anything of the child runs. */
export type ConfinementPlan = {
  readonly mode: 'auto' | 'require'
  readonly entryPath: string
  readonly paths: ReachablePaths
  /** The driver of a card by NVIDIA runs in the child, which then may make the driver's socket and name its own threads. */
  readonly drivesNvidia: boolean
  /** Private memory that may be asked for, whether it is used or not; null sets no limit. */
  readonly dataBytesMax: number | null
}

/** What is in force for a child, and why the rest is not. */
export type ConfinementReport = {
  readonly inForce: readonly string[]
  readonly missing: readonly string[]
}

/**
 * Where the first stage finds the channel to the service.
 *
 * @public The first stage loads it in a way that the search for unused code does not see.
 */
export const channelFile = 3
/** Where it says what it has put into force. */
export const reportFile = 4

/** The first stage so tells the child's program that its system calls are filtered, and more of them can be given up. */
export const callsAreFiltered = 'ODYSSEY_CALLS_ARE_FILTERED'
