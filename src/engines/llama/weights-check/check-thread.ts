// A thread beside the service's own: a header of megabytes and files of gigabytes are read here, where
// nobody waits for an answer.

import { parentPort, workerData } from 'node:worker_threads'
import { hashFile } from '../../../lib/hash-file.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { inspectWeights, type Weights } from '../gguf/inspect-weights.ts'

export type CheckJob = { readonly kind: 'inspect' | 'hash'; readonly path: string }
export type CheckNews =
  | { readonly kind: 'inspected'; readonly weights: Weights }
  | { readonly kind: 'hashing'; readonly bytes: number }
  | { readonly kind: 'hashed'; readonly sha256: string }
  | { readonly kind: 'failed'; readonly message: string }

/** The bytes between two reports: a line of progress is never wanted more often. */
const newsEveryBytes = 64 * 1024 * 1024

const say = (news: CheckNews) => parentPort?.postMessage(news)

async function perform({ kind, path }: CheckJob): Promise<CheckNews> {
  if (kind === 'inspect') return { kind: 'inspected', weights: inspectWeights(path) }
  let saidBytes = 0
  const sha256 = await hashFile(path, new AbortController().signal, (bytes) => {
    if (bytes - saidBytes < newsEveryBytes) return
    saidBytes = bytes
    say({ kind: 'hashing', bytes })
  })
  return { kind: 'hashed', sha256 }
}

perform(workerData as CheckJob).then(say, (error: unknown) => say({ kind: 'failed', message: messageOf(error) }))
