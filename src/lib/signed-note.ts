// Signed notes as C2SP's signed-note describes them, which Go's checksum database and transparency logs use: a text,
// and below it lines with Ed25519 signatures.

import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'

/** Signs with an Ed25519 key, which may lie on another machine. */
export type SigningKey = {
  /** Its 32 bytes. */
  readonly publicKey: Buffer
  /** Rejects, with the reason, where there is no signature to be had. */
  sign(text: string): Promise<Uint8Array>
}

/** Signs under a name, which readers look for. */
export type NoteSigner = { readonly name: string; readonly key: SigningKey }

/** Knows whose signature it is by the name and the key's number. */
export type NoteVerifier = { readonly name: string; readonly publicKey: Uint8Array }

export type Note = {
  /** With the newline at its end. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export type NoteSignature = {
  readonly name: string
  /** The first four bytes of a hash of the name and the key: a hint, and no proof. */
  readonly keyNumber: Buffer
  readonly signature: Buffer
}

/** The specification's number of Ed25519. */
const ed25519 = 0x01
const publicKeyBytes = 32
/** What stands before the 32 bytes of an Ed25519 key in its usual form (RFC 8410). */
const publicKeyPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** A name may stand in a line with others: no spaces, and no plus, which separates the parts of a verifier. */
const names = /^[^\s+\p{Cc}]+$/u

export function publicKeyOf(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(-publicKeyBytes)
}

/** A key that is at hand. */
export function localKey(privateKey: KeyObject): SigningKey {
  return {
    publicKey: publicKeyOf(privateKey),
    sign: (text) => Promise.resolve(sign(null, Buffer.from(text), privateKey)),
  }
}

/** The usual form of an Ed25519 key of 32 bytes. */
function spkiOf(publicKey: Uint8Array): Buffer {
  return Buffer.concat([publicKeyPrefix, publicKey])
}

/** The text of a verifier, by which others know a key: `name+number+base64`. */
export function formatVerifier({ name, publicKey }: NoteVerifier): string {
  const number = keyNumberOf({ name, publicKey }).toString('hex')
  return `${name}+${number}+${Buffer.concat([Buffer.of(ed25519), publicKey]).toString('base64')}`
}

/** Null where it is none. */
export function parseVerifier(text: string): NoteVerifier | null {
  const [, name = '', number, encoded = ''] = /^([^+]+)\+([\da-f]{8})\+([\d+/A-Za-z]+={0,2})$/.exec(text) ?? []
  const key = Buffer.from(encoded, 'base64')
  if (!names.test(name) || key[0] !== ed25519 || key.length !== publicKeyBytes + 1) return null
  const verifier = { name, publicKey: key.subarray(1) }
  return keyNumberOf(verifier).toString('hex') === number ? verifier : null
}

/** The text ends with a newline; each signer adds a line. */
export async function signNote(text: string, signers: readonly NoteSigner[]): Promise<string> {
  const lines: string[] = []
  for (const { name, key } of signers) {
    const signature = Buffer.concat([keyNumberOf({ name, publicKey: key.publicKey }), await key.sign(text)])
    lines.push(`— ${name} ${signature.toString('base64')}\n`)
  }
  return `${text}\n${lines.join('')}`
}

/** Null where it is no note. Says nothing about the signatures yet. */
export function parseNote(note: string): Note | null {
  const end = note.lastIndexOf('\n\n')
  if (end === -1 || !note.endsWith('\n')) return null
  const signatures: NoteSignature[] = []
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [, name = '', encoded = ''] = /^— (\S+) ([\d+/A-Za-z]+={0,2})$/.exec(line) ?? []
    const bytes = Buffer.from(encoded, 'base64')
    if (!names.test(name) || bytes.length < 5) return null
    signatures.push({ name, keyNumber: bytes.subarray(0, 4), signature: bytes.subarray(4) })
  }
  return { text: note.slice(0, end + 1), signatures }
}

/** Those of the verifiers whose signature the note has. A signature of theirs that is wrong makes the note none of theirs. */
export function findSigners({ text, signatures }: Note, verifiers: readonly NoteVerifier[]): NoteVerifier[] {
  return verifiers.filter((verifier) => {
    const number = keyNumberOf(verifier)
    const own = signatures.filter(({ name, keyNumber }) => name === verifier.name && keyNumber.equals(number))
    return own.length > 0 && own.every(({ signature }) => isSigned(text, verifier, signature))
  })
}

/** Whether a key has signed just this text. */
export function isSigned(text: string, { publicKey }: Pick<NoteVerifier, 'publicKey'>, signature: Uint8Array): boolean {
  const key = createPublicKey({ key: spkiOf(publicKey), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(text), key, signature)
}

function keyNumberOf({ name, publicKey }: NoteVerifier): Buffer {
  const content = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ed25519), publicKey])
  return createHash('sha256').update(content).digest().subarray(0, 4)
}

// Cosignatures as C2SP's tlog-cosignature describes them: a witness signs when it has seen a checkpoint, and with that
// also that everything it saw before is the begin of it.

/** Whom cosignatures are by. */
export type Cosigner = { readonly name: string; readonly publicKey: Uint8Array }

/** The specification's number of Ed25519 for cosignatures. */
const cosignatureType = 0x04
const timeBytes = 8

/** The text by which others know a witness: `name+number+base64`. */
export function formatCosigner(cosigner: Cosigner): string {
  const key = Buffer.concat([Buffer.of(cosignatureType), cosigner.publicKey])
  return `${cosigner.name}+${cosignerNumberOf(cosigner).toString('hex')}+${key.toString('base64')}`
}

/** Null where it is none. */
export function parseCosigner(text: string): Cosigner | null {
  const [, name = '', number, encoded = ''] = /^([^+\s\p{Cc}]+)\+([\da-f]{8})\+([\d+/A-Za-z]+={0,2})$/u.exec(text) ?? []
  const key = Buffer.from(encoded, 'base64')
  if (name === '' || key[0] !== cosignatureType || key.length !== publicKeyBytes + 1) return null
  const cosigner = { name, publicKey: key.subarray(1) }
  return cosignerNumberOf(cosigner).toString('hex') === number ? cosigner : null
}

/** The line that goes below a note, with its newline. */
export function cosign(
  text: string,
  { name, privateKey }: { readonly name: string; readonly privateKey: KeyObject },
  nowMs: number,
): string {
  const seconds = Math.floor(nowMs / 1_000)
  const time = Buffer.alloc(timeBytes)
  time.writeBigUInt64BE(BigInt(seconds))
  const signature = sign(null, cosignedText(text, seconds), privateKey)
  const number = cosignerNumberOf({ name, publicKey: publicKeyOf(privateKey) })
  return `— ${name} ${Buffer.concat([number, time, signature]).toString('base64')}\n`
}

export type Cosignatures = {
  /** Who has cosigned, and when, in milliseconds. */
  readonly valid: readonly { readonly cosigner: Cosigner; readonly atMs: number }[]
  /** Whose name and key stand over what they have not signed. */
  readonly forged: readonly Cosigner[]
}

/** What some cosigners have signed of a note; what others have is overlooked. */
export function readCosignatures({ text, signatures }: Note, cosigners: readonly Cosigner[]): Cosignatures {
  const valid: { cosigner: Cosigner; atMs: number }[] = []
  const forged: Cosigner[] = []
  for (const cosigner of cosigners) {
    const number = cosignerNumberOf(cosigner)
    const own = signatures.filter(({ name, keyNumber }) => name === cosigner.name && keyNumber.equals(number))
    const times = own.map(({ signature }) => timeOf(text, cosigner, signature))
    const read = times.filter((atMs) => atMs !== null)
    if (read.length < times.length) forged.push(cosigner)
    else if (read.length > 0) valid.push({ cosigner, atMs: Math.max(...read) })
  }
  return { valid, forged }
}

/** So many of these have to have cosigned what is believed. */
export type Quorum = { readonly cosigners: readonly Cosigner[]; readonly count: number }

/** Whether enough have cosigned a note, and nobody's name stands over what they have not signed. */
export function hasQuorum(note: Note, { cosigners, count }: Quorum): boolean {
  const { valid, forged } = readCosignatures(note, cosigners)
  return forged.length === 0 && valid.length >= count
}

/** When it was signed; null where it was not. */
function timeOf(text: string, { publicKey }: Cosigner, signature: Buffer): number | null {
  if (signature.length !== timeBytes + 64) return null
  const seconds = Number(signature.readBigUInt64BE(0))
  // What is later than any date cannot have been signed.
  if (!Number.isSafeInteger(seconds * 1_000)) return null
  const key = createPublicKey({ key: spkiOf(publicKey), format: 'der', type: 'spki' })
  return verify(null, cosignedText(text, seconds), key, signature.subarray(timeBytes)) ? seconds * 1_000 : null
}

function cosignedText(text: string, seconds: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`)
}

function cosignerNumberOf({ name, publicKey }: Cosigner): Buffer {
  const content = Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(cosignatureType), publicKey])
  return createHash('sha256').update(content).digest().subarray(0, 4)
}
