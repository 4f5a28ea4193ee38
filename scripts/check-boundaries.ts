// Checks which folder imports which, and how full each is, in the `src` of the current directory.
// dependency-cruiser exits with 0 when it could not parse any TypeScript, so the
// number of files it read is checked as well as what it found.

import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import { cruise, type IConfiguration, type IViolation } from 'dependency-cruiser'

/** Unit tests beside their code are not counted. */
const sourceFilesMax = 20
const testFilesMax = 25

type Boundaries = {
  readonly floors: readonly (readonly string[])[]
  readonly default: Required<Pick<IConfiguration, 'forbidden' | 'options'>>
}

// Named by a variable, because the compiler knows no types of a plain JavaScript file.
const boundariesFile: string = '../.dependency-cruiser.mjs'
const { floors, default: configuration }: Boundaries = await import(boundariesFile)

const list = (pattern: string) => globSync(pattern).map((file) => file.replaceAll('\\', '/'))
const files = list('src/**/*.ts')
const tests = list('test/**/*.ts')
const faults = [
  ...unlistedFiles(files),
  ...overfullFolders(
    files.filter((file) => !file.endsWith('.test.ts')),
    sourceFilesMax,
  ),
  ...overfullFolders(tests, testFilesMax),
  ...(await violations(files)),
]
for (const fault of faults) console.log(fault)
console.log(`${files.length} files, ${faults.length} faults.`)
process.exitCode = faults.length === 0 ? 0 : 1

/** Names the files outside every folder that has a floor: no rule would speak of them. */
function unlistedFiles(paths: readonly string[]): string[] {
  const known = new Set(floors.flat())
  return paths
    .filter((path) => !known.has(path.split('/')[1] ?? ''))
    .map((path) => `${path}: its folder has no floor in .dependency-cruiser.mjs.`)
}

function overfullFolders(paths: readonly string[], filesMax: number): string[] {
  const counts = new Map<string, number>()
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts]
    .filter(([, count]) => count > filesMax)
    .map(([folder, count]) => `${folder}: ${count} files; beyond ${filesMax} a folder is divided.`)
}

async function violations(paths: readonly string[]): Promise<string[]> {
  const { forbidden, options } = configuration
  const { output } = await cruise(['src'], { ...options, validate: true, ruleSet: { forbidden } })
  if (typeof output === 'string') throw new Error('dependency-cruiser wrote a text where a report was expected.')
  const read = new Set(output.modules.map((module) => module.source))
  const unread = paths.filter((path) => !read.has(path))
  if (unread.length > 0) {
    throw new Error(
      `dependency-cruiser read ${paths.length - unread.length} of ${paths.length} files; not ${unread.join(', ')}.`,
    )
  }
  return output.summary.violations.map(describe)
}

function describe(violation: IViolation): string {
  const way = violation.cycle?.map((step) => step.name).join(' → ') ?? violation.to
  return `${violation.rule.name}: ${violation.from} → ${way}`
}
