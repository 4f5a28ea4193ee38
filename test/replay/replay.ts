import type { RawResponse } from '../campaigns/response-reader.ts'
import type { Listening } from '../conformance/clients/client.ts'
import { checkReplayed, isTooLong } from './check-replayed.ts'
import { expectedStatus, toRequest, type Recording } from './recording.ts'
import { send } from './send.ts'

export type Replayed = {
  readonly file: string
  readonly request: string
  readonly expected: number
  /** Null when nothing came back. */
  readonly status: number | null
  readonly ms: number
  /** `too-long` is a request that the weights behind its model have no room for, refused as it must be. */
  readonly verdict: 'right' | 'wrong' | 'too-long'
  /** What is wrong with the answer, else null. */
  readonly fault: string | null
}

/** Sends recorded requests one after the other, as their clients did, and judges each answer. */
export async function* replay(recordings: readonly Recording[], { address, key }: Listening): AsyncGenerator<Replayed> {
  for (const recording of recordings) {
    const { file, method, url } = recording
    const startedMs = performance.now()
    const response = await send(address, toRequest(recording, key)).catch((error: Error) => error)
    const fault = faultOf(recording, response)
    yield {
      file,
      request: `${method} ${url}`,
      expected: expectedStatus(recording),
      status: response instanceof Error ? null : response.status,
      ms: performance.now() - startedMs,
      verdict: fault === null ? 'right' : isRightlyTooLong(response) ? 'too-long' : 'wrong',
      fault,
    }
  }
}

function faultOf(recording: Recording, response: RawResponse | Error): string | null {
  if (response instanceof Error) return response.message
  try {
    checkReplayed(recording, response)
    return null
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
  }
}

/** Weights may have less room than the model they stand for, and the recordings were made without any. */
function isRightlyTooLong(response: RawResponse | Error): boolean {
  return !(response instanceof Error) && isTooLong(response)
}
