import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { hasUnnamedFiles } from '../../confinement/unnamed-files.ts'
import { createStateRoom, type SavedState, type StateRoom } from './state-room.ts'

const small = 1_000
const large = 9_000_000

function pattern(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => (index * 31 + (index >> 8)) & 0xff))
}

async function allOf(state: SavedState): Promise<Buffer> {
  const [read, copied] = [await state.asFile((path) => readFile(path)), Buffer.alloc(state.bytes)]
  for (let at = 0; at < state.bytes; at += 4_000) state.copyTo(copied.subarray(at, at + 4_000), at)
  ok(read.equals(copied))
  return read
}

/** Files in memory that this process has open. */
function openFiles(): number {
  return readdirSync('/proc/self/fd').filter((file) => {
    try {
      return readlinkSync(`/proc/self/fd/${file}`).includes('memfd:odyssey')
    } catch {
      return false
    }
  }).length
}

const kinds = [
  ['bytes that pass through files', false],
  ...(hasUnnamedFiles() ? [['files in memory', true] as const] : []),
] as const

for (const [name, isInFiles] of kinds) {
  const collect = (room: StateRoom, bytes: Uint8Array, portion: number) =>
    room.collect(bytes.length, async (add) => {
      for (let at = 0; at < bytes.length; at += portion) add(bytes.subarray(at, at + portion))
    })

  test(`${name}: a state is what was written, however large and by whichever way`, async () => {
    const room = createStateRoom(isInFiles)
    for (const bytes of [0, small, large]) {
      const wanted = pattern(bytes)
      const taken = await room.take((path) => writeFile(path, wanted))
      const collected = await collect(room, wanted, 4_096)
      for (const state of [taken, collected]) {
        equal(state.bytes, bytes)
        ok((await allOf(state)).equals(wanted), `${bytes} bytes`)
        state.drop()
      }
    }
  })

  test(`${name}: what is passed on is read as it was written, and nothing of it is kept`, async () => {
    const room = createStateRoom(isInFiles)
    const before = isInFiles ? openFiles() : 0
    const passed = await room.pass(
      (path) => writeFile(path, pattern(large)),
      (path) => readFile(path),
    )
    ok(passed.equals(pattern(large)))
    const full = () => Promise.reject(new Error('no space left on device'))
    await rejects(room.pass(full, readFile), /no space/)
    if (isInFiles) equal(openFiles(), before)
  })

  test(`${name}: of a state that could not be written nothing is left`, async () => {
    const room = createStateRoom(isInFiles)
    const fault = new Error('no space left on device')
    await rejects(
      room.take(() => Promise.reject(fault)),
      fault,
    )
    await rejects(
      room.collect(large, () => Promise.reject(fault)),
      fault,
    )
    if (isInFiles) equal(openFiles(), 0)
  })
}

test(
  'a large state is an open file until it is dropped, and a small one is none',
  { skip: !hasUnnamedFiles() },
  async () => {
    const room = createStateRoom(true)
    const states = await Promise.all(
      [small, large, large].map((bytes) => room.take((path) => writeFile(path, pattern(bytes)))),
    )
    const counts = [openFiles()]
    for (const state of states) {
      state.drop()
      counts.push(openFiles())
    }
    deepEqual(counts, [2, 2, 1, 0])
  },
)
