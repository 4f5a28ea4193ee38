import { Worker } from 'node:worker_threads'
import type { Weights } from '../gguf/inspect-weights.ts'
import type { CheckJob, CheckNews } from './check-thread.ts'

/** Looks weights over as `inspectWeights` does, without keeping the service from its work. */
export async function inspectOffThread(path: string, signal: AbortSignal): Promise<Weights> {
  const news = await run({ kind: 'inspect', path }, signal, () => {})
  if (news.kind !== 'inspected') throw new Error('Weights were not looked at.')
  return news.weights
}

/** The sha256 of a file, without keeping the service from its work. */
export async function hashOffThread(
  path: string,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<string> {
  const news = await run({ kind: 'hash', path }, signal, onProgress)
  if (news.kind !== 'hashed') throw new Error('Weights were not hashed.')
  return news.sha256
}

function run(job: CheckJob, signal: AbortSignal, onProgress: (bytes: number) => void): Promise<CheckNews> {
  // A fault of its own is told as any other; the memory bound is for a reader that would not keep to its own.
  const worker = new Worker(new URL('./check-thread.ts', import.meta.url), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: 1_024 },
  })
  const abort = () => void worker.terminate()
  signal.addEventListener('abort', abort, { once: true })
  return new Promise<CheckNews>((resolve, reject) => {
    worker.on('message', (news: CheckNews) => {
      if (news.kind === 'hashing') onProgress(news.bytes)
      else if (news.kind === 'failed') reject(new Error(news.message))
      else resolve(news)
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The check of the weights was broken off.')))
    if (signal.aborted) abort()
  }).finally(() => signal.removeEventListener('abort', abort))
}
