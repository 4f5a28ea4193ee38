import { nextMessage, startOwn, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target } from './target.ts'

/** A mock itself, which is asked for what the other targets pass on to it. It says where it listens. */
export async function startDirect(program: URL, given: readonly string[], place: TargetSetup): Promise<Target> {
  const started = startOwn(program, given, place)
  const { address } = await nextMessage<{ readonly address: string }>(started)
  return {
    name: 'direct',
    url: new URL(completionsPath, address),
    headers: {},
    model,
    use: () => Promise.resolve(null),
    report: () => Promise.resolve(null),
    stop: () => started.stop(),
  }
}
