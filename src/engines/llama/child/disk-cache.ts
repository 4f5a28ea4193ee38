import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  randomUUID,
  type Decipheriv,
} from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { livePins, type HeldPrefix, type Pin } from './held-prefix.ts'

/** A prefix whose state lies in a file. */
export type DiskEntry = HeldPrefix & { readonly file: string }

export interface DiskCache {
  /** Of one organization; its files are looked through when it first asks. */
  of(namespace: string): Promise<readonly DiskEntry[]>
  /** Of all organizations, what was used last first. */
  latest(): AsyncGenerator<DiskEntry & { readonly usedMs: number }>
  /** The state, or null where the file is damaged or gone. */
  read(entry: DiskEntry): Promise<Buffer | null>
  /** Room is made at the cost of what was used longest ago. */
  markUsed(entry: DiskEntry): Promise<void>
  /**
   * Replaces what the organization has of the same conversation. Where a state serves for its whole length alone
   * (`isWhole` false), what ends at a pin stays beside a longer one: other conversations may go on from there.
   */
  write(held: HeldPrefix, state: Buffer, isWhole: boolean): Promise<void>
  remove(entry: DiskEntry): Promise<void>
}

export type DiskCacheOptions = {
  readonly folder: string
  readonly bytesMax: number
  /** From it comes a key for each organization. */
  readonly key: Uint8Array
  /** Changes with whatever makes a state useless: other weights, another version of the engine. */
  readonly fingerprint: string
  nowMs(): number
}

// After the magic come three lengths in bytes (owner, description, tokens) and three sealed
// parts: the owner, which the service's own key opens, the description with the tokens, and
// the state; both of these only the owner's key opens.
const magic = Buffer.from('ODYCACH2')
const sizesBytes = 12
const ivBytes = 12
const tagBytes = 16
/** Encrypted without a pause; takes a few milliseconds. */
const portionBytes = 4 * 1024 * 1024
/** Larger results of the cipher would each be given fresh memory by the system, which costs more than the cipher. */
const pieceBytes = 64 * 1024

type Header = { readonly tokens: number; readonly pins: readonly Pin[] }

/**
 * Keeps states in files, so that conversations are warm after a restart.
 *
 * Each organization's files are encrypted with a key of its own. A file that was cut
 * short, changed, or written by other weights is no file: it is removed when it is met.
 */
export function createDiskCache(options: DiskCacheOptions): DiskCache {
  const { folder, bytesMax, key, fingerprint, nowMs } = options
  const home = join(folder, createHash('sha256').update(fingerprint).digest('hex').slice(0, 16))
  const ownersKey = new Uint8Array(hkdfSync('sha256', key, '', 'odyssey prompt cache owners', 32))
  const known = new Map<string, Promise<DiskEntry[]>>()
  const keyOf = (namespace: string) =>
    new Uint8Array(hkdfSync('sha256', key, '', `odyssey prompt cache ${namespace}`, 32))
  const folderOf = (namespace: string) =>
    join(home, createHash('sha256').update(keyOf(namespace)).update('name').digest('hex').slice(0, 16))

  async function look(namespace: string): Promise<DiskEntry[]> {
    const names = await readdir(folderOf(namespace)).catch(() => [])
    const entries: DiskEntry[] = []
    for (const name of names) {
      const file = join(folderOf(namespace), name)
      const entry = await readEntry(file, namespace, keyOf(namespace)).catch(() => null)
      if (entry === null || livePins(entry.pins, nowMs()) !== entry.pins) await rm(file, { force: true })
      else entries.push(entry)
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
      const state = await readState(entry.file, entry.namespace, keyOf(entry.namespace)).catch(() => null)
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
      await writeEntry(file, held, state, { key: keyOf(namespace), ownersKey })
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
  const files = (await listFiles(home)).toSorted((a, b) => b.usedMs - a.usedMs)
  for (const { path, usedMs } of files) {
    const namespace = await readOwner(path, ownersKey).catch(() => null)
    const entry = namespace === null ? null : await readEntry(path, namespace, keyOf(namespace)).catch(() => null)
    if (entry !== null && livePins(entry.pins, nowMs()) === entry.pins) yield { ...entry, usedMs }
  }
}

/** So many pinned beginnings of one conversation are kept beside it. */
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
  return start.length <= whole.length && start.every((token, index) => token === whole[index])
}

type Keys = { readonly key: Uint8Array; readonly ownersKey: Uint8Array }

async function writeEntry(file: string, held: HeldPrefix, state: Buffer, { key, ownersKey }: Keys): Promise<void> {
  const { namespace } = held
  const owner = Buffer.from(namespace)
  const header = Buffer.from(JSON.stringify({ tokens: held.tokens.length, pins: held.pins } satisfies Header))
  const tokens = Buffer.from(held.tokens.buffer, held.tokens.byteOffset, held.tokens.byteLength)
  const unfinished = `${file}.unfinished`
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    const sizes = Buffer.alloc(sizesBytes)
    for (const [index, part] of [owner, header, tokens].entries()) sizes.writeUInt32LE(part.length, 4 * index)
    await handle.write(Buffer.concat([magic, sizes]))
    await writeSealed(handle, owner, { key: ownersKey, namespace: '' })
    await writeSealed(handle, Buffer.concat([header, tokens]), { key, namespace })
    await writeSealed(handle, state, { key, namespace })
    await handle.sync()
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
}

/** Nonce, text and tag; the tag also covers whose it is. */
async function writeSealed(handle: FileHandle, text: Buffer, { key, namespace }: Owner): Promise<void> {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace))
  await handle.write(iv)
  for (let at = 0; at < text.length; at += portionBytes) {
    await handle.write(cipher.update(text.subarray(at, at + portionBytes)))
  }
  cipher.final()
  await handle.write(cipher.getAuthTag())
}

async function readOwner(file: string, ownersKey: Uint8Array): Promise<string> {
  return withFile(file, async (handle) => {
    const { owner } = await readPlaces(handle)
    return (await readSealed(handle, owner, { key: ownersKey, namespace: '' })).toString('utf8')
  })
}

async function readEntry(file: string, namespace: string, key: Uint8Array): Promise<DiskEntry> {
  return withFile(file, async (handle) => {
    const { header, json } = await readPlaces(handle)
    const opened = await readSealed(handle, header, { key, namespace })
    const { tokens, pins } = JSON.parse(opened.toString('utf8', 0, json)) as Header
    const held = new Uint32Array(tokens)
    Buffer.from(held.buffer).set(opened.subarray(json))
    return { namespace, tokens: held, pins, checkpoints: [], file }
  })
}

async function readState(file: string, namespace: string, key: Uint8Array): Promise<Buffer> {
  return withFile(file, async (handle) => readSealed(handle, (await readPlaces(handle)).state, { key, namespace }))
}

async function withFile<Result>(file: string, work: (handle: FileHandle) => Promise<Result>): Promise<Result> {
  const handle = await open(file, 'r')
  try {
    return await work(handle)
  } finally {
    await handle.close()
  }
}

/** A sealed part: where its nonce stands, and the length of its text. */
type Place = { readonly at: number; readonly bytes: number }

async function readPlaces(handle: FileHandle) {
  const start = magic.length + sizesBytes
  const { buffer } = await handle.read(Buffer.alloc(start), 0, start, 0)
  if (!buffer.subarray(0, magic.length).equals(magic)) throw new Error('This is no file of the cache.')
  const sizeAt = (index: number) => buffer.readUInt32LE(magic.length + 4 * index)
  const json = sizeAt(1)
  const owner: Place = { at: start, bytes: sizeAt(0) }
  const header: Place = { at: endOf(owner), bytes: json + sizeAt(2) }
  const { size } = await handle.stat()
  const state: Place = { at: endOf(header), bytes: size - endOf(header) - ivBytes - tagBytes }
  return { owner, header, json, state }
}

function endOf({ at, bytes }: Place): number {
  return at + ivBytes + bytes + tagBytes
}

type Owner = { readonly key: Uint8Array; readonly namespace: string }

async function readSealed(handle: FileHandle, { at, bytes }: Place, { key, namespace }: Owner): Promise<Buffer> {
  if (bytes < 0) throw new Error('The file is cut short.')
  const iv = (await handle.read(Buffer.alloc(ivBytes), 0, ivBytes, at)).buffer
  const tag = (await handle.read(Buffer.alloc(tagBytes), 0, tagBytes, at + ivBytes + bytes)).buffer
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace)).setAuthTag(tag)
  const text = Buffer.allocUnsafeSlow(bytes)
  for (let done = 0; done < bytes;) {
    const portion = Math.min(portionBytes, bytes - done)
    const { bytesRead } = await handle.read(text, done, portion, at + ivBytes + done)
    if (bytesRead === 0) throw new Error('The file is cut short.')
    decipherInPlace(decipher, text.subarray(done, done + bytesRead))
    done += bytesRead
  }
  decipher.final()
  return text
}

function decipherInPlace(decipher: Decipheriv, text: Buffer): void {
  for (let at = 0; at < text.length; at += pieceBytes) {
    decipher.update(text.subarray(at, at + pieceBytes)).copy(text, at)
  }
}

/** Removes the files that were used longest ago until the rest fit. */
async function makeRoom(folder: string, bytesMax: number): Promise<void> {
  const files = (await listFiles(folder)).toSorted((a, b) => a.usedMs - b.usedMs)
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  for (const file of files) {
    if (bytes <= bytesMax) return
    await rm(file.path, { force: true })
    bytes -= file.bytes
  }
}

async function listFiles(folder: string) {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const about = await stat(path).catch(() => null)
      return about?.isFile() === true ? [{ path, bytes: about.size, usedMs: about.mtimeMs }] : []
    }),
  )
  return found.flat()
}
