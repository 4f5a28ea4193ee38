import { pin } from '../cores.ts'
import type { OdysseyQuestion, OdysseyStart } from '../odyssey-target.ts'
import { nextMessage, startOwn, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target, type TargetUse } from './target.ts'

const program = new URL('../odyssey-target.ts', import.meta.url)

/** Odyssey's door, everything on, in a process of its own. Its engine goes to the cores of the mock. */
export async function startOdyssey(place: TargetSetup, mockCores: string | null): Promise<Target> {
  const started = startOwn(program, [], place)
  const { address, key, enginePid } = await nextMessage<OdysseyStart>(started)
  pin(enginePid, mockCores)
  const question = <Answer>(kind: OdysseyQuestion['kind']) => {
    started.child.send({ kind } satisfies OdysseyQuestion)
    return nextMessage<Answer>(started)
  }
  return {
    name: 'Odyssey',
    url: new URL(completionsPath, address),
    headers: { authorization: `Bearer ${key}` },
    model,
    use: () => question<TargetUse>('use'),
    async report(sent) {
      return `Odyssey was sent ${sent} requests; its ledger has ${await question<number>('ledger-rows')} rows.`
    },
    stop: () => started.stop(),
  }
}
