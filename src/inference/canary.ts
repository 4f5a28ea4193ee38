import { ApiError, toApiError } from '../core/error.ts'
import { GenerationAborted } from '../core/generation.ts'
import { leastRequest } from '../core/least-request.ts'
import { randomId } from '../lib/random-id.ts'
import { statusOf, type CatalogEntry } from '../models/catalog.ts'
import { Answer } from './answer.ts'
import type { InferenceParts } from './generate.ts'
import { Meter } from './settlement.ts'
import type { WorstCase } from './worst-case.ts'

/** Whoever waits longer for a first token takes the model for down. */
export const canaryMsMax = 30_000

export type CanaryParts = Pick<InferenceParts, 'catalog' | 'ledger' | 'clock'> & {
  /** Whether keys can be checked at the moment. */
  areKeysChecked(): boolean
}

/**
 * What became of the question.
 *
 *     answered    the model has made a token
 *     busy        all slots are taken by others, which says nothing
 *     asleep      nobody has asked for its weights in a while, and this is no reason to load them
 *     otherwise   the code of the error
 */
export type CanaryVerdict = 'answered' | 'busy' | 'asleep' | (string & {})

/**
 * Asks a model for one token, as a request would: its ledger has to be writable, keys have to be checked, it waits for a
 * slot, and the engine computes. It is nobody's request, so it is neither billed nor counted.
 */
export async function askCanary(parts: CanaryParts, model: string): Promise<CanaryVerdict> {
  const hung = Promise.withResolvers<CanaryVerdict>()
  const callOff = parts.clock.after(canaryMsMax + hangMs, () => hung.resolve('no-answer'))
  // An engine that does not even stop when it is told to must not keep the question from being asked again.
  return Promise.race([ask(parts, model), hung.promise]).finally(callOff)
}

/** Time for an engine to stop in. */
const hangMs = 5_000

async function ask(parts: CanaryParts, model: string): Promise<CanaryVerdict> {
  const { catalog, ledger, clock } = parts
  const stop = new AbortController()
  const callOff = clock.after(canaryMsMax, () => stop.abort())
  const meter = new Meter(1, () => 0)
  let entry: CatalogEntry | null = null
  try {
    ledger.requireWritable()
    if (!parts.areKeysChecked()) return 'overloaded'
    entry = catalog.find(model)
    if (statusOf(entry).state === 'asleep') return 'asleep'
    const lane = entry
    const windowTokensMax = entry.model.windowTokens
    const request = { ...leastRequest('Hi'), model, windowTokensMax, owner, requestId: `req_${randomId()}` }
    const answer = new Answer(
      { lane, worstCase: oneToken, meter: meter.of(0), clock, overLimit: 'pause', signal: stop.signal },
      request,
    )
    return await readToken(answer, stop)
  } catch (error) {
    return entry === null ? codeOf(error) : verdictOn(error, entry, meter.hasBegun)
  } finally {
    callOff()
  }
}

async function readToken(answer: Answer, stop: AbortController): Promise<CanaryVerdict> {
  try {
    for (let read = await answer.next(); read.done !== true; read = await answer.next()) {
      if (read.value.type === 'finish') return 'answered'
    }
    return 'internal'
  } finally {
    stop.abort()
    await answer.end()
  }
}

function verdictOn(error: unknown, entry: CatalogEntry, hasBegun: boolean): CanaryVerdict {
  const isLate = error instanceof GenerationAborted || (error instanceof ApiError && error.code === 'overloaded')
  const { running, slots, state } = statusOf(entry)
  if (isLate && !hasBegun && state === 'ready' && slots !== null && running >= slots) return 'busy'
  return error instanceof GenerationAborted ? 'no-answer' : codeOf(error)
}

function codeOf(error: unknown): string {
  return toApiError(error).code
}

const owner = { organizationId: 'org_installation', apiKeyId: 'key_canary' } as const

/** A single token is nobody's limit. */
const oneToken: WorstCase = {
  reserve: () => Promise.resolve(1),
  reserveOptimistically: () => null,
  counted: () => {},
  outputSlices: () => ({ first: 1, slice: 1 }),
  growOutput: () => 0,
}
