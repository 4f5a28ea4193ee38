import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, utimes, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { HeldPrefix, Pin } from './held-prefix.ts'

/** A prefix whose state lies in a file. */
export type DiskEntry = HeldPrefix & { readonly file: string }

export interface DiskCache {
  /** Of one organization; its files are looked through when it first asks. */
  of(namespace: string): Promise<readonly DiskEntry[]>
  /** The state, or null where the file is damaged or gone. */
  read(entry: DiskEntry): Promise<Buffer | null>
  /** Replaces what the organization has of the same conversation. */
  write(held: HeldPrefix, state: Buffer): Promise<void>
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

const magic = Buffer.from('ODYCACH1')
const ivBytes = 12
const tagBytes = 16
/** Encrypted without a pause; takes a few milliseconds. */
const portionBytes = 4 * 1024 * 1024

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
      if (entry === null || entry.pins.some(({ untilMs }) => untilMs <= nowMs())) await rm(file, { force: true })
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
    remove,
    async read(entry) {
      const state = await readState(entry.file, entry.namespace, keyOf(entry.namespace)).catch(() => null)
      if (state === null) await remove(entry)
      else await utimes(entry.file, new Date(), new Date()).catch(() => {})
      return state
    },
    async write(held, state) {
      const { namespace, tokens } = held
      const file = join(folderOf(namespace), `${randomUUID()}.state`)
      await mkdir(folderOf(namespace), { recursive: true, mode: 0o700 })
      await writeEntry(file, held, state, keyOf(namespace))
      const before = await of(namespace)
      const outdone = before.filter((entry) => isBeginning(entry.tokens, tokens))
      for (const entry of outdone) await rm(entry.file, { force: true })
      const left = before.filter((entry) => !outdone.includes(entry))
      known.set(namespace, Promise.resolve([...left, { ...held, tokens: tokens.slice(), checkpoints: [], file }]))
      await makeRoom(folder, bytesMax)
    },
  }
}

function isBeginning(start: Uint32Array, whole: Uint32Array): boolean {
  return start.length <= whole.length && start.every((token, index) => token === whole[index])
}

async function writeEntry(file: string, held: HeldPrefix, state: Buffer, key: Uint8Array): Promise<void> {
  const header = Buffer.from(JSON.stringify({ tokens: held.tokens.length, pins: held.pins } satisfies Header))
  const tokens = Buffer.from(held.tokens.buffer, held.tokens.byteOffset, held.tokens.byteLength)
  const unfinished = `${file}.unfinished`
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    const sizes = Buffer.alloc(8)
    sizes.writeUInt32LE(header.length, 0)
    sizes.writeUInt32LE(tokens.length, 4)
    await handle.write(Buffer.concat([magic, sizes]))
    await writeSealed(handle, Buffer.concat([header, tokens]), key, held.namespace)
    await writeSealed(handle, state, key, held.namespace)
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
async function writeSealed(handle: FileHandle, text: Buffer, key: Uint8Array, namespace: string): Promise<void> {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace))
  await handle.write(iv)
  for (let at = 0; at < text.length; at += portionBytes) {
    await handle.write(cipher.update(text.subarray(at, at + portionBytes)))
  }
  cipher.final()
  await handle.write(cipher.getAuthTag())
}

async function readEntry(file: string, namespace: string, key: Uint8Array): Promise<DiskEntry> {
  const handle = await open(file, 'r')
  try {
    const { header, start } = await readSizes(handle)
    const opened = await readSealed(handle, start, header.bytes, { key, namespace })
    const { tokens, pins } = JSON.parse(opened.toString('utf8', 0, header.json)) as Header
    const bytes = opened.subarray(header.json)
    const held = new Uint32Array(tokens)
    Buffer.from(held.buffer).set(bytes)
    return { namespace, tokens: held, pins, checkpoints: [], file }
  } finally {
    await handle.close()
  }
}

async function readState(file: string, namespace: string, key: Uint8Array): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const { header, start } = await readSizes(handle)
    const at = start + ivBytes + header.bytes + tagBytes
    const { size } = await handle.stat()
    return await readSealed(handle, at, size - at - ivBytes - tagBytes, { key, namespace })
  } finally {
    await handle.close()
  }
}

async function readSizes(handle: FileHandle) {
  const start = magic.length + 8
  const { buffer } = await handle.read(Buffer.alloc(start), 0, start, 0)
  if (!buffer.subarray(0, magic.length).equals(magic)) throw new Error('This is no file of the cache.')
  const json = buffer.readUInt32LE(magic.length)
  return { header: { json, bytes: json + buffer.readUInt32LE(magic.length + 4) }, start }
}

type Owner = { readonly key: Uint8Array; readonly namespace: string }

async function readSealed(handle: FileHandle, at: number, bytes: number, { key, namespace }: Owner): Promise<Buffer> {
  if (bytes < 0) throw new Error('The file is cut short.')
  const iv = (await handle.read(Buffer.alloc(ivBytes), 0, ivBytes, at)).buffer
  const tag = (await handle.read(Buffer.alloc(tagBytes), 0, tagBytes, at + ivBytes + bytes)).buffer
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace)).setAuthTag(tag)
  const text = Buffer.alloc(bytes)
  for (let done = 0; done < bytes;) {
    const portion = Math.min(portionBytes, bytes - done)
    const { bytesRead } = await handle.read(text, done, portion, at + ivBytes + done)
    if (bytesRead === 0) throw new Error('The file is cut short.')
    decipher.update(text.subarray(done, done + bytesRead)).copy(text, done)
    done += bytesRead
  }
  decipher.final()
  return text
}

/** Removes the files that were used longest ago until the rest fit. */
async function makeRoom(folder: string, bytesMax: number): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      const about = await stat(path).catch(() => null)
      return about?.isFile() === true ? [{ path, bytes: about.size, usedMs: about.mtimeMs }] : []
    }),
  )
  const files = found.flat().toSorted((a, b) => a.usedMs - b.usedMs)
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  for (const file of files) {
    if (bytes <= bytesMax) return
    await rm(file.path, { force: true })
    bytes -= file.bytes
  }
}
