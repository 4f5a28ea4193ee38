// The file in which a prefix and its state lie, encrypted. What was cut short, changed or written
// with another key cannot be read, and reading throws.
//
// Files are read without Node's pool of threads: the engine's has one alone, which loads weights for minutes
// and computes steps, while what is read here is to be there when it is wanted. Each portion is a pause for all else.

import { createCipheriv, createDecipheriv, randomBytes, type Decipheriv } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { HeldPrefix, Pin } from './held-prefix.ts'
import type { SavedState, StateRoom } from './state-room.ts'

// After the magic come three lengths in bytes (owner, description, tokens) and three sealed
// parts: the owner, which the service's own key opens, the description with the tokens, and
// the state; both of these only the owner's key opens.
const magic = Buffer.from('ODYCACH2')
const sizesBytes = 12
const ivBytes = 12
const tagBytes = 16
/** Read, encrypted or decrypted without a pause; takes a few milliseconds. */
const portionBytes = 4 * 1024 * 1024
/** Larger results of the cipher would each be given fresh memory by the system, which costs more than the cipher. */
const pieceBytes = 64 * 1024

type Header = { readonly tokens: number; readonly pins: readonly Pin[] }

type Keys = { readonly key: Uint8Array; readonly ownersKey: Uint8Array }

/** Under its name only once it is whole and on the disk. */
export async function writeStateFile(
  file: string,
  held: HeldPrefix,
  state: SavedState,
  { key, ownersKey }: Keys,
): Promise<void> {
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
    await writeSealed(handle, [owner], { key: ownersKey, namespace: '' })
    await writeSealed(handle, [Buffer.concat([header, tokens])], { key, namespace })
    await writeSealed(handle, portionsOf(state), { key, namespace })
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
async function writeSealed(handle: FileHandle, text: Iterable<Uint8Array>, { key, namespace }: Owner): Promise<void> {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace))
  await handle.write(iv)
  for (const portion of text) await handle.write(cipher.update(portion))
  cipher.final()
  await handle.write(cipher.getAuthTag())
}

/** Each portion is in the place of the one before. */
function* portionsOf(state: SavedState): Generator<Uint8Array> {
  const room = new Uint8Array(Math.min(portionBytes, state.bytes))
  for (let at = 0; at < state.bytes; at += portionBytes) {
    const portion = room.subarray(0, state.bytes - at)
    state.copyTo(portion, at)
    yield portion
  }
}

export async function readOwner(file: string, ownersKey: Uint8Array): Promise<string> {
  return withFile(file, async (opened) => {
    const { owner } = readParts(opened)
    return (await readWhole(opened, owner, { key: ownersKey, namespace: '' })).toString('utf8')
  })
}

export async function readHeld(file: string, namespace: string, key: Uint8Array): Promise<HeldPrefix> {
  return withFile(file, async (opened) => {
    const { header, json } = readParts(opened)
    const text = await readWhole(opened, header, { key, namespace })
    const { tokens, pins } = JSON.parse(text.toString('utf8', 0, json)) as Header
    const held = new Uint32Array(tokens)
    Buffer.from(held.buffer).set(text.subarray(json))
    return { namespace, tokens: held, pins, checkpoints: [] }
  })
}

export async function readState(
  file: string,
  namespace: string,
  key: Uint8Array,
  states: StateRoom,
): Promise<SavedState> {
  return withFile(file, (opened) => {
    const { state } = readParts(opened)
    return states.collect(state.bytes, (add) => readSealed(opened, state, { key, namespace }, add))
  })
}

/** A file that is open, by its number. */
type Opened = number

async function withFile<Result>(file: string, work: (opened: Opened) => Promise<Result>): Promise<Result> {
  const opened = openSync(file, 'r')
  try {
    return await work(opened)
  } finally {
    closeSync(opened)
  }
}

/** The position in the file of a sealed part's nonce, and the length of its text. */
type SealedPart = { readonly at: number; readonly bytes: number }

function readParts(opened: Opened) {
  const buffer = readAt(opened, magic.length + sizesBytes, 0)
  if (!buffer.subarray(0, magic.length).equals(magic)) throw new Error('This is no file of the cache.')
  const sizeAt = (index: number) => buffer.readUInt32LE(magic.length + 4 * index)
  const json = sizeAt(1)
  const owner: SealedPart = { at: buffer.length, bytes: sizeAt(0) }
  const header: SealedPart = { at: endOf(owner), bytes: json + sizeAt(2) }
  const { size } = fstatSync(opened)
  const state: SealedPart = { at: endOf(header), bytes: size - endOf(header) - ivBytes - tagBytes }
  return { owner, header, json, state }
}

function endOf({ at, bytes }: SealedPart): number {
  return at + ivBytes + bytes + tagBytes
}

type Owner = { readonly key: Uint8Array; readonly namespace: string }

async function readWhole(opened: Opened, part: SealedPart, owner: Owner): Promise<Buffer> {
  const portions: Buffer[] = []
  await readSealed(opened, part, owner, (portion) => portions.push(Buffer.from(portion)))
  return Buffer.concat(portions)
}

/** Hands on a sealed part in portions, each in the place of the one before. That it is whole is known at its end alone. */
async function readSealed(
  opened: Opened,
  { at, bytes }: SealedPart,
  { key, namespace }: Owner,
  onPortion: (portion: Uint8Array) => void,
): Promise<void> {
  if (bytes < 0) throw new Error('The file is cut short.')
  const iv = readAt(opened, ivBytes, at)
  const tag = readAt(opened, tagBytes, at + ivBytes + bytes)
  const decipher = createDecipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(namespace)).setAuthTag(tag)
  const room = Buffer.allocUnsafeSlow(Math.min(portionBytes, bytes))
  for (let done = 0; done < bytes;) {
    if (done > 0) await setImmediate()
    const bytesRead = readSync(opened, room, 0, Math.min(portionBytes, bytes - done), at + ivBytes + done)
    if (bytesRead === 0) throw new Error('The file is cut short.')
    const portion = room.subarray(0, bytesRead)
    decipherInPlace(decipher, portion)
    onPortion(portion)
    done += bytesRead
  }
  decipher.final()
}

/** Bytes that the file does not have are zeros. */
function readAt(opened: Opened, bytes: number, at: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  readSync(opened, buffer, 0, bytes, at)
  return buffer
}

function decipherInPlace(decipher: Decipheriv, text: Buffer): void {
  for (let at = 0; at < text.length; at += pieceBytes) {
    decipher.update(text.subarray(at, at + pieceBytes)).copy(text, at)
  }
}
