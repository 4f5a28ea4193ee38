// States of slots outside the library's memory. The library writes and reads them as files and knows nothing else, so on Linux
// they are files that have no name and lie in memory (memfd): what it wrote stays where it is. To read a state into memory
// of its own took four times as long as the library took to write it.

import { closeSync, fstatSync, mkdtempSync, readSync, rmSync, writeSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasUnnamedFiles, memoryFiles } from '../../confinement/unnamed-files.ts'

/** All that a model has computed for the tokens of a slot. Whoever has it last drops it. */
export interface SavedState {
  readonly bytes: number
  /** Copies what stands at `at` into `target`, as much as fits. */
  copyTo(target: Uint8Array, at: number): void
  /** Lets `work` read it as a file, which is there until `work` is done. */
  asFile<Result>(work: (path: string) => Promise<Result>): Promise<Result>
  /** Gives its memory back. */
  drop(): void
}

export interface StateRoom {
  /** Takes what `write` writes into a file. Rejects, and takes nothing, where `write` does. */
  take(write: (path: string) => Promise<unknown>): Promise<SavedState>
  /** Lets `read` read as a file what `write` has written into it, and keeps nothing. */
  pass<Result>(write: (path: string) => Promise<unknown>, read: (path: string) => Promise<Result>): Promise<Result>
  /** Takes so many bytes that come in portions, one after the other. */
  collect(bytes: number, fill: (add: (portion: Uint8Array) => void) => Promise<void>): Promise<SavedState>
}

/** Smaller states are kept as bytes: there can be many thousands, and a process may have so many files open. */
const fileBytesMin = 4 * 1024 * 1024

/** Keeps states in files that lie in memory, or where the system has none, as bytes that pass through files. */
export function createStateRoom(isInFiles = hasUnnamedFiles()): StateRoom {
  return isInFiles ? inMemoryFiles(memoryFiles()) : inBytes()
}

type Passage = <Result>(state: Uint8Array, work: (path: string) => Promise<Result>) => Promise<Result>

function inMemoryFiles(openFile: () => number): StateRoom {
  const withFile = async <Result>(work: (file: number) => Promise<Result>): Promise<Result> => {
    const file = openFile()
    try {
      return await work(file)
    } finally {
      closeSync(file)
    }
  }
  const passage: Passage = (state, work) =>
    withFile((file) => {
      writeAll(file, state, 0)
      return work(pathOf(file))
    })
  const keep = (file: number): SavedState => {
    const { size } = fstatSync(file)
    if (size >= fileBytesMin) return fileState(file, size)
    const bytes = Buffer.allocUnsafeSlow(size)
    readSync(file, bytes, 0, size, 0)
    closeSync(file)
    return byteState(bytes, passage)
  }
  const filled = async (fill: (file: number) => Promise<unknown>): Promise<SavedState> => {
    const file = openFile()
    try {
      await fill(file)
      return keep(file)
    } catch (error) {
      closeSync(file)
      throw error
    }
  }
  return {
    take: (write) => filled((file) => write(pathOf(file))),
    pass: (write, read) =>
      withFile(async (file) => {
        await write(pathOf(file))
        return read(pathOf(file))
      }),
    collect: (bytes, fill) =>
      bytes < fileBytesMin
        ? collectBytes(bytes, fill, passage)
        : filled((file) => {
            let at = 0
            return fill((portion) => {
              writeAll(file, portion, at)
              at += portion.length
            })
          }),
  }
}

async function collectBytes(
  bytes: number,
  fill: Parameters<StateRoom['collect']>[1],
  passage: Passage,
): Promise<SavedState> {
  const state = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  await fill((portion) => {
    state.set(portion, at)
    at += portion.length
  })
  return byteState(state, passage)
}

/** Throws where there is no room for all of it. */
function writeAll(file: number, bytes: Uint8Array, at: number): void {
  if (writeSync(file, bytes, 0, bytes.length, at) < bytes.length) throw new Error('There is no memory left.')
}

/** A file without a name is reached by its number. */
function pathOf(file: number): string {
  return `/proc/self/fd/${file}`
}

function fileState(file: number, bytes: number): SavedState {
  return {
    bytes,
    copyTo: (target, at) => void readSync(file, target, 0, target.length, at),
    asFile: (work) => work(pathOf(file)),
    drop: () => closeSync(file),
  }
}

/** Bytes that are the state, and how they become a file. */
function byteState(state: Uint8Array, passage: Passage): SavedState {
  return {
    bytes: state.length,
    copyTo: (target, at) => target.set(state.subarray(at, at + target.length)),
    asFile: (work) => passage(state, work),
    drop() {},
  }
}

function inBytes(): StateRoom {
  let folder: string | null = null
  let count = 0
  const withFile = async <Result>(work: (path: string) => Promise<Result>): Promise<Result> => {
    folder ??= makeScratchFolder()
    const path = join(folder, String(count++))
    try {
      return await work(path)
    } finally {
      await rm(path, { force: true })
    }
  }
  const passage: Passage = (state, work) =>
    withFile(async (path) => {
      await writeFile(path, state, { mode: 0o600 })
      return work(path)
    })
  return {
    take: (write) =>
      withFile(async (path) => {
        await write(path)
        return byteState(await readFile(path), passage)
      }),
    pass: (write, read) =>
      withFile(async (path) => {
        await write(path)
        return read(path)
      }),
    collect: (bytes, fill) => collectBytes(bytes, fill, passage),
  }
}

/** Makes a folder for files that live for a moment. The system's folder for such is, to a child, one of its own. */
function makeScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'states-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
