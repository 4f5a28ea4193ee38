import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSigners, hasQuorum, parseNote, type NoteVerifier, type Quorum } from '../../lib/signed-note.ts'
import { parseCheckpoint, type Checkpoint } from './checkpoint.ts'

/** Stands in the file where an older database was taken into use knowingly: what was signed before is not expected from then on. */
const restoreMark = '# A restored database was accepted for '

/** A note has an empty line before its signatures, and one behind them. A mark is one line. */
const noteOrMark = /^(?:#[^\n]*\n|[^\n#][^\n]*\n(?:[^\n]+\n)*\n(?:— [^\n]+\n)+)/gm

export function checkpointFileIn(home: string): string {
  return join(home, 'audit-checkpoints.txt')
}

/** Keeps a note outside the database; the notes are parted by an empty line. */
export function appendCheckpoint(path: string, note: string): void {
  appendFileSync(path, `${note}\n`, { mode: 0o600, flush: true })
}

export function appendAcceptance(path: string, origin: string, atMs: number): void {
  appendFileSync(path, `${restoreMark}${origin} at ${new Date(atMs).toISOString()}\n\n`, { mode: 0o600, flush: true })
}

/** The notes of a file by the name of their log, in the order of the file. Whose key signed them is not looked at. */
export type KeptNotes = ReadonlyMap<string, readonly string[]>

/** The notes that were kept, without those from before an accepted restore. */
export function readKeptNotes(path: string): KeptNotes {
  const kept = new Map<string, string[]>()
  if (!existsSync(path)) return kept
  for (const one of readFileSync(path, 'utf8').match(noteOrMark) ?? []) {
    const line = one.slice(0, one.indexOf('\n'))
    if (line.startsWith(restoreMark)) kept.delete(line.slice(restoreMark.length, line.lastIndexOf(' at ')))
    else if (!line.startsWith('#')) kept.set(line, [...(kept.get(line) ?? []), one])
  }
  return kept
}

/** The checkpoints of one log that its verifiers have signed. */
export function keptCheckpoints(kept: KeptNotes, verifiers: readonly NoteVerifier[]): readonly Checkpoint[] {
  const notes = kept.get(verifiers[0]?.name ?? '') ?? []
  return notes.flatMap((note) => parseSigned(note, verifiers) ?? [])
}

export function verifiersOf(origin: string, publicKeys: readonly Uint8Array[]): readonly NoteVerifier[] {
  return publicKeys.map((publicKey) => ({ name: origin, publicKey }))
}

/**
 * Those of the notes in a text that one of the verifiers has signed, of the log that the verifier names; with a quorum
 * those alone that enough witnesses have cosigned.
 */
export function parseCheckpoints(
  text: string,
  verifiers: readonly NoteVerifier[],
  quorum: Quorum | null = null,
): Checkpoint[] {
  return (text.match(noteOrMark) ?? []).flatMap((one) => {
    const note = parseNote(one)
    if (quorum !== null && (note === null || !hasQuorum(note, quorum))) return []
    return parseSigned(one, verifiers) ?? []
  })
}

/** The checkpoint of a note; null where none of the verifiers has signed it, or only one of another log. */
export function parseSigned(text: string, verifiers: readonly NoteVerifier[]): Checkpoint | null {
  const note = parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  if (note === null || checkpoint === null) return null
  return findSigners(note, verifiers).some(({ name }) => name === checkpoint.origin) ? checkpoint : null
}
