import type { LinuxCalls } from '../../../lib/system/linux-calls.ts'
import { auditArchitectures, callNumbers, type CallName } from './system-calls.ts'

// A filter of system calls, as a small program for the kernel: each call is looked up by its number
// and allowed unless it is listed. The numbers are those of linux/seccomp.h and linux/bpf_common.h.

/** Calls that a filter refuses: always, or unless (or where) an argument has certain bits or a certain value. */
export type Refusal = {
  readonly calls: readonly CallName[]
  /** A call that does not exist is done without; one that is not permitted is a fault. */
  readonly answer: 'not permitted' | 'no such call'
  readonly where?: { readonly firstArgumentHas: number } | { readonly firstArgumentLacks: number }
  readonly unlessFirstArgumentIs?: number
  /** Of the second argument the lowest four bits are compared, which of a socket are its type. */
  readonly unlessSocketIs?: { readonly family: number; readonly type: number }
}

const errorNumbers = { 'not permitted': 1, 'no such call': 38 } as const
const setsFilter = 1
const forAllThreads = 1
const noNewPrivileges = 38

const load = 0x20
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfAnyBit = 0x45
const keepBits = 0x54
const answer = 0x06
const allow = 0x7fff_0000
const refuse = 0x0005_0000
const endProcess = 0x8000_0000
/** Where the kernel puts the call's number, the architecture and the lower half of the first argument. */
const offsets = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 } as const
const socketTypes = 0xf
/** On x86-64, calls by another convention have their numbers from here on. */
const foreignCalls = 0x4000_0000

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** Puts a filter into force for this thread, or for all of the process. Throws where the system has none. */
export function restrictCalls(calls: LinuxCalls, refusals: readonly Refusal[], threads: 'this' | 'all' = 'this'): void {
  const { arch } = process
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`No filter of system calls is made for ${arch}.`)
  const filter = assemble(refusals, arch)
  const bytes = Buffer.alloc(filter.length * 8)
  for (const [index, [code, ifTrue, ifFalse, value]] of filter.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(ifTrue, index * 8 + 2)
    bytes.writeUInt8(ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  }
  const program = Buffer.alloc(16)
  program.writeUInt16LE(filter.length)
  program.writeBigUInt64LE(calls.addressOf(bytes), 8)
  calls.setOption(noNewPrivileges, 1)
  calls.call(
    'a filter of system calls',
    callNumbers[arch].seccomp,
    setsFilter,
    threads === 'all' ? forAllThreads : 0,
    program,
  )
}

function assemble(refusals: readonly Refusal[], arch: 'x64' | 'arm64'): Instruction[] {
  const start: Instruction[] = [
    [load, 0, 0, offsets.architecture],
    [jumpIfEqual, 1, 0, auditArchitectures[arch]],
    [answer, 0, 0, endProcess],
    [load, 0, 0, offsets.number],
  ]
  const foreign: Instruction[] =
    arch === 'x64'
      ? [
          [jumpIfAtLeast, 0, 1, foreignCalls],
          [answer, 0, 0, refuse | errorNumbers['not permitted']],
        ]
      : []
  const rules = refusals.flatMap((refusal) => refusal.calls.flatMap((name) => rule(callNumbers[arch][name], refusal)))
  return [...start, ...foreign, ...rules, [answer, 0, 0, allow]]
}

/** Skips itself for every other call, with the call's number still loaded. */
function rule(number: number | undefined, one: Refusal): Instruction[] {
  if (number === undefined) return []
  const { answer: said, where, unlessFirstArgumentIs, unlessSocketIs } = one
  const refusal: Instruction = [answer, 0, 0, refuse | errorNumbers[said]]
  const allowed: Instruction = [answer, 0, 0, allow]
  if (unlessSocketIs !== undefined) {
    return [
      [jumpIfEqual, 0, 7, number],
      [load, 0, 0, offsets.firstArgument],
      [jumpIfEqual, 0, 3, unlessSocketIs.family],
      [load, 0, 0, offsets.secondArgument],
      [keepBits, 0, 0, socketTypes],
      [jumpIfEqual, 1, 0, unlessSocketIs.type],
      refusal,
      allowed,
    ]
  }
  const test = testOf(where, unlessFirstArgumentIs)
  if (test === null) return [[jumpIfEqual, 0, 1, number], refusal]
  return [[jumpIfEqual, 0, 4, number], [load, 0, 0, offsets.firstArgument], test, refusal, allowed]
}

/** An instruction that goes on to the refusal where its test holds, and skips it otherwise. */
function testOf(where: Refusal['where'], unlessIs: number | undefined): Instruction | null {
  if (unlessIs !== undefined) return [jumpIfEqual, 1, 0, unlessIs]
  if (where === undefined) return null
  return 'firstArgumentHas' in where
    ? [jumpIfAnyBit, 0, 1, where.firstArgumentHas]
    : [jumpIfAnyBit, 1, 0, where.firstArgumentLacks]
}
