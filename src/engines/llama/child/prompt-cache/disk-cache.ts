import { createHash, hkdfSync, randomUUID } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { mkdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { livePins, type HeldPrefix } from './held-prefix.ts'
import { readHeld, readOwner, readState, writeStateFile } from './state-file.ts'
import type { SavedState, StateRoom } from './state-room.ts'
import { commonPrefix } from './token-list.ts'

/** A prefix whose state lies in a file. */
export type DiskEntry = HeldPrefix & { readonly file: string }

export interface DiskCache {
  /** The entries of one organization, whose files are looked through when it first asks. */
  of(namespace: string): Promise<readonly DiskEntry[]>
  /** The entries of all organizations, the one used last first. */
  latest(): AsyncGenerator<DiskEntry & { readonly usedMs: number }>
  /** The state, or null where the file is damaged or gone. */
  read(entry: DiskEntry): Promise<SavedState | null>
  /** Room is made at the cost of what was used longest ago. */
  markUsed(entry: DiskEntry): Promise<void>
  /**
   * Replaces what the organization has of the same conversation. Where a state serves for its whole length alone
   * (`isWhole` false), what ends at a pin stays beside a longer one: other conversations may go on from there.
   */
  write(held: HeldPrefix, state: SavedState, isWhole: boolean): Promise<void>
  remove(entry: DiskEntry): Promise<void>
}

export type DiskCacheOptions = {
  readonly folder: string
  readonly bytesMax: number
  /** From it comes a key for each organization. */
  readonly key: Uint8Array
  /** Changes with whatever makes a state useless: other weights, another version of the engine. */
  readonly fingerprint: string
  /** Where states are put that are read. */
  readonly states: StateRoom
  nowMs(): number
}

/**
 * Keeps states in files, so that conversations are warm after a restart.
 *
 * Each organization's files are encrypted with a key of its own. A file that was cut
 * short, changed, or written by other weights is no file: it is removed when it is met.
 */
export function createDiskCache(options: DiskCacheOptions): DiskCache {
  const { folder, bytesMax, key, fingerprint, states, nowMs } = options
  const home = join(folder, createHash('sha256').update(fingerprint).digest('hex').slice(0, 16))
  const ownersKey = new Uint8Array(hkdfSync('sha256', key, '', 'odyssey prompt cache owners', 32))
  const known = new Map<string, Promise<DiskEntry[]>>()
  const keyOf = (namespace: string) =>
    new Uint8Array(hkdfSync('sha256', key, '', `odyssey prompt cache ${namespace}`, 32))
  const folderOf = (namespace: string) =>
    join(home, createHash('sha256').update(keyOf(namespace)).update('name').digest('hex').slice(0, 16))

  async function look(namespace: string): Promise<DiskEntry[]> {
    const names = namesIn(folderOf(namespace))
    const entries: DiskEntry[] = []
    for (const name of names) {
      const file = join(folderOf(namespace), name)
      const held = await readHeld(file, namespace, keyOf(namespace)).catch(() => null)
      if (held === null || livePins(held.pins, nowMs()) !== held.pins) await rm(file, { force: true })
      else entries.push({ ...held, file })
    }
    return entries
  }

  function of(namespace: string): Promise<DiskEntry[]> {
    const entries = known.get(namespace) ?? look(namespace)
    known.set(namespace, entries)
    return entries
  }

  async function remove(entry: DiskEntry): Promise<void> {
    const entries = await of(entry.namespace)
    known.set(entry.namespace, Promise.resolve(entries.filter(({ file }) => file !== entry.file)))
    await rm(entry.file, { force: true })
  }

  return {
    of,
    latest: () => readLatest(home, { ownersKey, keyOf, nowMs }),
    remove,
    async read(entry) {
      const { file, namespace } = entry
      const state = await readState(file, namespace, keyOf(namespace), states).catch(() => null)
      if (state === null) await remove(entry)
      return state
    },
    async markUsed({ file }) {
      await utimes(file, new Date(), new Date()).catch(() => {})
    },
    async write(held, state, isWhole) {
      const { namespace, tokens } = held
      const before = await of(namespace)
      const file = join(folderOf(namespace), `${randomUUID()}.state`)
      await mkdir(folderOf(namespace), { recursive: true, mode: 0o700 })
      await writeStateFile(file, held, state, { key: keyOf(namespace), ownersKey })
      const outdone = findOutdone(before, tokens, isWhole)
      for (const entry of outdone) await rm(entry.file, { force: true })
      const left = before.filter((entry) => !outdone.includes(entry))
      known.set(namespace, Promise.resolve([...left, { ...held, tokens: tokens.slice(), checkpoints: [], file }]))
      await makeRoom(folder, bytesMax)
    },
  }
}

type Reading = Pick<DiskCacheOptions, 'nowMs'> & {
  readonly ownersKey: Uint8Array
  keyOf(namespace: string): Uint8Array
}

async function* readLatest(home: string, { ownersKey, keyOf, nowMs }: Reading): ReturnType<DiskCache['latest']> {
  const files = listFiles(home).toSorted((a, b) => b.usedMs - a.usedMs)
  for (const { path, usedMs } of files) {
    const namespace = await readOwner(path, ownersKey).catch(() => null)
    const held = namespace === null ? null : await readHeld(path, namespace, keyOf(namespace)).catch(() => null)
    if (held !== null && livePins(held.pins, nowMs()) === held.pins) yield { ...held, file: path, usedMs }
  }
}

/** The number of pinned beginnings of one conversation that are kept beside it. */
export const keptPins = 2

function findOutdone(entries: readonly DiskEntry[], tokens: Uint32Array, isWhole: boolean): readonly DiskEntry[] {
  const beginnings = entries.filter((entry) => isBeginning(entry.tokens, tokens))
  if (isWhole) return beginnings
  const kept = beginnings
    .filter((entry) => entry.tokens.length < tokens.length && endsAtPin(entry))
    .toSorted((a, b) => a.tokens.length - b.tokens.length)
    .slice(0, keptPins)
  return beginnings.filter((entry) => !kept.includes(entry))
}

function endsAtPin({ tokens, pins }: DiskEntry): boolean {
  return pins.some(({ length }) => length === tokens.length)
}

function isBeginning(start: Uint32Array, whole: Uint32Array): boolean {
  return commonPrefix(start, whole) === start.length
}

/** Removes the files that were used longest ago until the rest fit. */
async function makeRoom(folder: string, bytesMax: number): Promise<void> {
  const files = listFiles(folder).toSorted((a, b) => a.usedMs - b.usedMs)
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  for (const file of files) {
    if (bytes <= bytesMax) return
    await rm(file.path, { force: true })
    bytes -= file.bytes
  }
}

/** Without Node's pool of threads, as the files are read: weights may be loading on the only one. */
function listFiles(folder: string) {
  return namesIn(folder).flatMap((name) => {
    const path = join(folder, name)
    const about = statSync(path, { throwIfNoEntry: false })
    return about?.isFile() === true ? [{ path, bytes: about.size, usedMs: about.mtimeMs }] : []
  })
}

/** What lies in a folder and in those within it; nothing where there is none. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
}
