// A thread that parses and decodes large bodies. It hands over what comes out in portions, the next one when the last was
// taken, so that whoever receives them is never held up for long.

import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { ApiError, type ApiErrorReason } from '../../core/error.ts'
import { toPortions, type Portion } from '../../lib/portions.ts'
import { yieldProcessor } from '../../lib/system/processor-priority.ts'
import { openFormats } from '../../protocols/formats.ts'
import { requestBytes } from '../../scheduling/make-room.ts'
import { decodeBody, type BodyKind, parseJson } from './decode-body.ts'

export type DecodeSettings = { readonly signatureKey: Uint8Array }

/** Brings a body; or, without one, asks for the next portion of what became of it. */
export type ToDecoder = {
  readonly id: number
  readonly body?: { readonly kind: BodyKind; readonly blocks: Uint8Array[] }
}

export type FromDecoder =
  | { readonly id: number; readonly portion: Portion }
  /** All portions are handed over. The digest stands for the body's bytes. */
  | { readonly id: number; readonly digest: Uint8Array }
  | { readonly id: number; readonly reason: ApiErrorReason; readonly message: string }
  | { readonly id: number; readonly bug: string }

type Job = { readonly portions: Generator<Portion>; readonly digest: Uint8Array }

const { signatureKey } = workerData as DecodeSettings
// An answer's head says the fingerprint, and no request.
const decoders = openFormats({ signatureKey, readFingerprint: () => '' })
const jobs = new Map<number, Job>()
const tell = (news: FromDecoder) => parentPort?.postMessage(news)
// A large body gives way to everything that is small.
yieldProcessor()

parentPort?.on('message', ({ id, body }: ToDecoder) => {
  try {
    if (body !== undefined) jobs.set(id, begin(body.kind, Buffer.concat(body.blocks)))
    goOn(id)
  } catch (error) {
    jobs.delete(id)
    if (error instanceof ApiError) tell({ id, reason: error.reason, message: error.message })
    else tell({ id, bug: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})

function begin(kind: BodyKind, bytes: Buffer): Job {
  const shaped = decodeBody(decoders, kind, parseJson(bytes))
  const request = { ...shaped.request, bytes: requestBytes(shaped.request) }
  return { portions: toPortions({ ...shaped, request }), digest: createHash('sha256').update(bytes).digest() }
}

function goOn(id: number): void {
  const job = jobs.get(id)
  if (job === undefined) return
  const { value: portion, done = false } = job.portions.next()
  if (!done && portion !== undefined) return tell({ id, portion })
  jobs.delete(id)
  tell({ id, digest: job.digest })
}
