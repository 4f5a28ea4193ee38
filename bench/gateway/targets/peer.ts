import { useOfTreeSinceLast } from '../../process-use.ts'
import { start, untilListening, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target } from './target.ts'

/** Another gateway, as the command line describes it. In every text `{mock}` stands for the mock's address. */
export type Peer = {
  readonly name: string
  /** The program and its arguments. Without it the gateway runs already, and what it uses is not told. */
  readonly start?: readonly string[]
  /** Its address, without a path. */
  readonly address: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly model?: string
}

export async function startPeer(peer: Peer, place: TargetSetup, upstream: URL): Promise<Target> {
  const filled = JSON.parse(JSON.stringify(peer).replaceAll('{mock}', upstream.origin)) as Peer
  const url = new URL(filled.path ?? completionsPath, filled.address)
  const started = filled.start === undefined ? null : start(filled.start, place)
  if (started !== null) await untilListening(url, started, filled.name)
  const pid = started?.child.pid
  return {
    name: filled.name,
    url,
    headers: filled.headers ?? {},
    model: filled.model ?? model,
    use: () => Promise.resolve(pid === undefined ? null : useOfTreeSinceLast(pid)),
    report: () => Promise.resolve(null),
    stop: async () => started?.stop(),
  }
}
