// The code of sign-in, single sign-on and directories is changed in one place at a time, and its tests are run: a change
// that no test notices says that nobody looks there.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failures, runCases, type CampaignOptions, type CampaignResult } from '../campaign.ts'
import { createRandom } from '../random.ts'
import { measureTests, type TestFile } from './covering-tests.ts'
import { findMutants, type Mutant } from './find-mutants.ts'
import { runTestFile } from './run-test-file.ts'

const root = join(import.meta.dirname, '../../..')
const folders = ['single-sign-on', 'sign-in', 'directory', 'agents', 'leaving']
const tests = [
  'test/single-sign-on/**/*.test.ts',
  'test/http/api/{sign-in,sessions,failed-sign-ins,resources}.test.ts',
  `src/accounts/{${folders.join(',')}}/**/*.test.ts`,
]
/** From so many mutants on, the share that is noticed is judged. */
const longRun = 50
const shareMin = 0.8
/** A change may make a test wait for ever. */
const patience = { factor: 4, ms: 60_000 }

type Verdict = { readonly mutant: Mutant; readonly by: string | null }

/** `count` changes, of all there are. */
export async function runMutants({ seed, count, log }: CampaignOptions): Promise<CampaignResult> {
  const failures = new Failures()
  const files = globSync(
    folders.map((folder) => `src/accounts/${folder}/**/*.ts`),
    { cwd: root },
  )
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => join(root, file))
    .toSorted()
  const all = files.flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))
  const chosen = choose(all, { seed, count })
  log(`${all.length} changes are possible; ${chosen.length} of them are tried`)
  const paths = globSync(tests, { cwd: root }).map((path) => join(root, path))
  const known = await measureTests({ paths, files, log })
  log(`${known.length} files of tests pass`)
  const verdicts: Verdict[] = []
  await runCases(chosen.length, 2, async (number) => {
    const mutant = chosen[number]
    if (mutant === undefined) return
    const verdict = { mutant, by: await judge(mutant, known) }
    verdicts.push(verdict)
    log(`${verdicts.length}: ${describe(verdict)}`)
  })
  const noticed = verdicts.filter(({ by }) => by !== null).length
  const share = noticed / Math.max(1, verdicts.length)
  if (verdicts.length >= longRun && share < shareMin) failures.add(`only ${noticed} of ${verdicts.length} were noticed`)
  return failures.toResult({ possible: all.length, noticed, 'share noticed (%)': (share * 100).toFixed(1) })
}

function choose(all: readonly Mutant[], { seed, count }: { readonly seed: number; readonly count: number }) {
  const random = createRandom(seed)
  const shuffled = all
    .map((mutant) => ({ mutant, place: random.next() }))
    .toSorted((one, other) => one.place - other.place)
  return shuffled.slice(0, count).map(({ mutant }) => mutant)
}

/** The file whose tests notice it; null where none does. */
async function judge(mutant: Mutant, known: readonly TestFile[]): Promise<string | null> {
  for (const { path, ms, runs } of known) {
    if (!runs(mutant.file, mutant.start)) continue
    const outcome = await runTestFile(path, { mutant, waitMs: ms * patience.factor + patience.ms })
    if (outcome !== 'passed') return path
  }
  return null
}

function describe({ mutant, by }: Verdict): string {
  const { file, line, kind, from } = mutant
  const where = `${file.slice(root.length + 1)}:${line} ${kind}: ${from.replace(/\s+/g, ' ').slice(0, 60)}`
  return by === null ? `SURVIVES ${where}` : `noticed by ${by.slice(root.length + 1)}: ${where}`
}
