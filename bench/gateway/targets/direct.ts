import { nextMessage, startOwn, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target } from './target.ts'

const program = new URL('../mock/mock-server.ts', import.meta.url)

/** The mock itself, which the other targets but Odyssey pass requests on to. */
export async function startDirect(place: TargetSetup, port: number): Promise<Target> {
  const started = startOwn(program, [String(port)], place)
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
