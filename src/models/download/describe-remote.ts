import type { Clock } from '../../lib/clock.ts'
import { Interruption } from './download-error.ts'
import { describeFailure, openRemote, type Remote } from './open-remote.ts'
import { readSize } from './remote-facts.ts'
import { tryAgain, type Patience } from './try-again.ts'

export type RemoteDescription = {
  readonly bytes: number | null
  /** Everything the first server said. */
  readonly announced: Headers
}

/** Nothing is lost by giving up early: no byte has been fetched. */
const triesMax = 3

/**
 * Asks what a server has to say of a file, without fetching it.
 *
 * Some servers answer such questions with an error and yet have the file; then
 * nothing is known, and the fetching will show.
 */
export async function describeRemote(
  remote: Remote,
  { patience, clock, signal }: { readonly patience: Patience; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<RemoteDescription> {
  const ask = async (): Promise<RemoteDescription> => {
    const stalled = new AbortController()
    const cancel = clock.after(patience.idleMs, () => stalled.abort(noAnswer(remote, patience)))
    try {
      const signals = AbortSignal.any([signal, stalled.signal])
      const { status, headers, announced } = await openRemote(remote, { method: 'HEAD', signal: signals })
      const linked = readSize(announced.get('x-linked-size'))
      const own = status === 200 ? readSize(headers.get('content-length')) : null
      return { bytes: linked ?? own, announced }
    } catch (error) {
      throw stalled.signal.aborted ? stalled.signal.reason : describeFailure(error, remote.url)
    } finally {
      cancel()
    }
  }
  return tryAgain(ask, {
    patience: { ...patience, triesMax: Math.min(patience.triesMax, triesMax) },
    clock,
    signal,
    host: remote.url.host,
    hasContact: () => false,
    hasProgressed: () => false,
    onPause: () => {},
  })
}

/** Whether a firewall swallows the question or the server is at a loss, nothing is to be had there now. */
function noAnswer({ url: { host } }: Remote, { idleMs }: Patience): Interruption {
  return new Interruption(`${host} has not answered for ${idleMs / 1_000} s.`, { unreachableHost: host })
}
