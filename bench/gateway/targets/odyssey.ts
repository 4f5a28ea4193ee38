import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundleInClone } from '../../../scripts/package/bundle-in-clone.ts'
import { pin } from '../cores.ts'
import type { OdysseyQuestion, OdysseyStart } from '../odyssey-target.ts'
import { nextMessage, startOwn, type TargetSetup } from './start-program.ts'
import { completionsPath, model, type Target, type TargetUse } from './target.ts'

const program = new URL('../odyssey-target.ts', import.meta.url)

/** Another Odyssey beside the first, as the command line describes it. */
export type Variant = {
  readonly name: string
  /** A clone of the repository, for another version; this one unless given. */
  readonly clone?: string
  /** Whether it runs as a package has its programs, in few files. A clone runs its sources. */
  readonly isBundled?: boolean
  /** For its Node, after those that Odyssey is started with. */
  readonly nodeArguments?: readonly string[]
}

/** Odyssey's door, everything on, in a process of its own. Its engine goes to the cores of the mock. */
export async function startOdyssey(
  place: TargetSetup,
  mockCores: string | null,
  { name, clone, isBundled = false, nodeArguments = [] }: Variant = { name: 'Odyssey' },
): Promise<Target> {
  const source = clone === undefined ? program : pathToFileURL(join(clone, 'bench/gateway/odyssey-target.ts'))
  const started = startOwn(isBundled ? await bundleOnce(source) : source, [], place, nodeArguments)
  const { address, key, enginePid } = await nextMessage<OdysseyStart>(started)
  pin(enginePid, mockCores)
  const question = <Answer>(kind: OdysseyQuestion['kind']) => {
    started.child.send({ kind } satisfies OdysseyQuestion)
    return nextMessage<Answer>(started)
  }
  return {
    name,
    url: new URL(completionsPath, address),
    headers: { authorization: `Bearer ${key}` },
    model,
    use: () => question<TargetUse>('use'),
    async report(sent) {
      return `${name} was sent ${sent} requests; its ledger has ${await question<number>('ledger-rows')} rows.`
    },
    stop: () => started.stop(),
  }
}

/** By their sources: variants may differ in the arguments of Node alone, and one that runs keeps its files. */
const bundled = new Map<string, Promise<URL>>()

function bundleOnce({ href }: URL): Promise<URL> {
  const known = bundled.get(href) ?? bundleTarget(href)
  bundled.set(href, known)
  return known
}

/** Makes the target one of the programs of its version's package. */
async function bundleTarget(source: string): Promise<URL> {
  const root = fileURLToPath(new URL('../../', source))
  const programs = await bundleInClone(root, 'bench', { target: fileURLToPath(source) })
  return pathToFileURL(join(programs, 'target.js'))
}
