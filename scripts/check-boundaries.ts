// Checks which folder imports which, how full each is, and how many files have a single importer, in the `src` of
// the current directory.
// dependency-cruiser exits with 0 when it could not parse any TypeScript, so the
// number of files it read is checked as well as what it found.

import { globSync, readFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { cruise, type IConfiguration, type IModule, type IViolation } from 'dependency-cruiser'

/** Unit tests beside their code are not counted. */
const sourceFilesMax = 20
const testFilesMax = 25

/**
 * The share of files, tests left out, that one other file alone imports.
 *
 * Such a file is often half of an idea whose other half is its importer. Two well-kept projects have 14 and 35 %:
 * Kysely and Hono. Lists of routes, commands and migrations, each of which has a file, make up most of ours.
 */
const singleImporterShareMax = 0.35
/** A share says nothing where there are fewer files than these. */
const filesForShare = 100

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
const modules = await readModules(files)
const singles = singleImporters(modules.found)
const share = singles.length / files.filter((file) => !isTest(file)).length
const faults = [
  ...unlistedFiles(files),
  ...overfullFolders(
    files.filter((file) => !isTest(file)),
    sourceFilesMax,
  ),
  ...overfullFolders(tests, testFilesMax),
  ...modules.violations,
  ...(files.length >= filesForShare && share > singleImporterShareMax ? splitIdeas(singles) : []),
]
for (const fault of faults) console.log(fault)
console.log(`${files.length} files, ${(100 * share).toFixed(1)} % with a single importer, ${faults.length} faults.`)
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

function isTest(path: string): boolean {
  return path.endsWith('.test.ts')
}

type Modules = { readonly found: readonly IModule[]; readonly violations: readonly string[] }

async function readModules(paths: readonly string[]): Promise<Modules> {
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
  return { found: output.modules, violations: output.summary.violations.map(describe) }
}

type Single = { readonly path: string; readonly importer: string }

/** A program that another file starts, as a thread or a process, counts as imported by that file. */
function singleImporters(found: readonly IModule[]): readonly Single[] {
  const importers = new Map<string, Set<string>>()
  for (const { source, dependencies } of found) {
    if (!source.startsWith('src/') || isTest(source)) continue
    const started = Array.from(readFileSync(source, 'utf8').matchAll(/new URL\('(\.[^']+\.c?ts)'/g), ([, path = '']) =>
      posix.join(posix.dirname(source), path),
    )
    for (const path of [...dependencies.map(({ resolved }) => resolved), ...started]) {
      importers.set(path, (importers.get(path) ?? new Set()).add(source))
    }
  }
  return [...importers].flatMap(([path, [importer = '', ...others]]) =>
    path.startsWith('src/') && others.length === 0 ? [{ path, importer }] : [],
  )
}

function splitIdeas(found: readonly Single[]): string[] {
  return [
    ...found.map(({ path, importer }) => `${path}: imported by ${importer} alone.`),
    `More than ${100 * singleImporterShareMax} % of the files have a single importer: put some together with theirs.`,
  ]
}

function describe(violation: IViolation): string {
  const way = violation.cycle?.map((step) => step.name).join(' → ') ?? violation.to
  return `${violation.rule.name}: ${violation.from} → ${way}`
}
