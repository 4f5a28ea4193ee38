import { deepEqual, doesNotThrow, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, release } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { hasLinuxCalls, openLinuxCalls } from './linux-calls.ts'
import { backgroundPriority, precedingPriority, prioritize, threadsOf } from './processor-priority.ts'

const getAttributes: Partial<Record<NodeJS.Architecture, number>> = { x64: 315, arm64: 275 }
/** A user without rights, whom any system may have. */
const nobody = 65_534
const child = spawn(process.execPath, ['--eval', "console.log('here'); setInterval(() => {}, 1_000)"])
const pid = child.pid ?? 0

describe('a process that gives way', () => {
  before(async () => {
    await once(child.stdout, 'data')
    prioritize(threadsOf(pid), backgroundPriority)
  })
  after(() => child.kill())

  test('has the lower priority', () => {
    equal(getPriority(pid), backgroundPriority)
  })

  test('has it in every thread', { skip: process.platform !== 'linux' && 'known on Linux alone' }, () => {
    // Behind the name, which may have spaces and brackets in it.
    const niceOf = (stat: string) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    const threads = readdirSync(`/proc/${pid}/task`)
    ok(threads.length > 1)
    const found = threads.map((thread) => niceOf(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')))
    deepEqual(new Set(found), new Set([backgroundPriority]))
  })

  const [major = 0, minor = 0] = release().split('.').map(Number)
  const isNew = major > 6 || (major === 6 && minor >= 12)
  const number = getAttributes[process.arch]
  const lacks = !hasLinuxCalls() || number === undefined || !isNew
  test('has the shortest turns where the system gives turns of a length', { skip: lacks && 'not known here' }, () => {
    const attributes = Buffer.alloc(48)
    openLinuxCalls().call('turns', number ?? 0, pid, attributes, attributes.length, 0)
    equal(attributes.readBigUInt64LE(24), 100_000n)
  })
})

test('a process that has ended gives way without an error', async () => {
  const ended = spawn(process.execPath, ['--eval', ''])
  await once(ended, 'exit')
  doesNotThrow(() => prioritize(threadsOf(ended.pid ?? 0), backgroundPriority))
})

test('a process precedes others where the system allows it, and it is told where it does not', async (t) => {
  const other = spawn(process.execPath, ['--eval', "console.log('here'); setInterval(() => {}, 1_000)"])
  t.after(() => other.kill())
  await once(other.stdout, 'data')
  const threads = threadsOf(other.pid ?? 0)
  const expected = prioritize(threads, precedingPriority) ? precedingPriority : 0
  equal(getPriority(other.pid), expected)
  // Whoever may do everything is somebody else for a moment, whom the kernel refuses it.
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(nobody)
  const isAllowed = prioritize(threads, precedingPriority - 1)
  if (isRoot) process.seteuid?.(0)
  equal(isAllowed, false)
})
