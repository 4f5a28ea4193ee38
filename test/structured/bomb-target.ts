import { equal, ok } from 'node:assert/strict'
import { after, afterEach, before, beforeEach } from 'node:test'
import { ask, bodyFor, paths, type Answer, type Format } from '../harness/http/ask.ts'
import { startService, type Service } from '../harness/start-service.ts'

/** What goes off takes minutes; within one, a busy machine decides how long an answer takes. */
const answerMsMax = 60_000

export const invalid = { status: 400, type: 'invalid_request_error', shouldRetry: 'false' } as const

export type Fields = Readonly<Record<string, unknown>>
/** Sends a request with fields of its own and a name to be blamed by. */
export type Send = (name: string, format: Format, fields: Fields) => Promise<Answer>

/** A service for the tests of a file: each answers in time, and the engine child outlives each. */
export function createTarget(): Send {
  let service: Service
  let enginePid: number
  const slowest = { ms: 0, name: '' }
  before(async () => {
    service = await startService()
  })
  beforeEach(async () => {
    enginePid = await service.enginePid()
  })
  afterEach(async () => {
    equal(await service.enginePid(), enginePid, 'the engine child is another one')
  })
  after(async () => {
    console.log(`The slowest took ${Math.round(slowest.ms)} ms: ${slowest.name}`)
    equal(await service.stop(), 0)
  })
  return async (name, format, fields) => {
    const startedMs = performance.now()
    const answer = await ask(service, paths[format], { body: bodyFor(format, { max_tokens: 4, ...fields }) })
    const ms = performance.now() - startedMs
    if (ms > slowest.ms) Object.assign(slowest, { ms, name: `${name} (${format})` })
    ok(ms < answerMsMax, `${name} took ${Math.round(ms)} ms`)
    return answer
  }
}
