// npm run conformance   runs what is tested with client libraries and writes the result into docs/clients.md
//
// A test in test/docs/ keeps the versions on that page in step with package.json.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import { clients } from '../test/conformance/clients/clients.ts'
import type { Client } from '../test/conformance/clients/client.ts'
import { installedVersion, writeTable } from '../test/conformance/clients-table.ts'

const root = join(import.meta.dirname, '..')

type Kind = 'basics' | 'tools' | 'faults'
type Tally = { passed: number; all: number }

const files: Readonly<Record<Kind, readonly string[]>> = {
  basics: [
    ...globSync('test/conformance/*.test.ts', { cwd: root }).filter((file) => !file.includes('-tools')),
    'test/replay/whole-transcripts.ts',
  ],
  tools: ['test/structured/{anthropic,openai}.test.ts', 'test/conformance/*-tools.test.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: root }),
  ),
  faults: [
    ...globSync('test/conformance/faults/*.test.ts', { cwd: root }),
    'test/conformance/faults/slow-prefill-minute.ts',
  ],
}

process.exitCode = await main()

async function main(): Promise<number> {
  const tallies = new Map<string, Tally>()
  let failures = 0
  for (const kind of Object.keys(files) as Kind[]) failures += await runKind(kind, tallies)
  writeTable('libraries', {
    header: ['Client', 'Packages', 'Text, streams, usage, thinking, errors', 'Tools and JSON', 'Faults'],
    rows: clients.map((client) => rowOf(client, tallies)),
  })
  console.log(failures === 0 ? 'All passed; docs/clients.md is up to date.' : `${failures} failed.`)
  return failures === 0 ? 0 : 1
}

async function runKind(kind: Kind, tallies: Map<string, Tally>): Promise<number> {
  let failures = 0
  // Suites and tests are reported in their order, whichever ends first.
  let path: string[] = []
  const stream = run({ files: files[kind].map((file) => join(root, file)), concurrency: 2, timeout: 600_000 })
  for await (const event of stream as AsyncIterable<TestEvent>) {
    if (event.type === 'test:stdout') process.stdout.write(event.data.message)
    if (event.type === 'test:start') path = [...path.slice(0, event.data.nesting), event.data.name]
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file = '', name, nesting, details } = event.data
    if (details.type === 'suite') continue
    const isPass = event.type === 'test:pass'
    const client = clientOf(file, path.slice(0, nesting))
    if (!isPass) console.log(`✖ ${client ?? file}: ${name}`)
    if (!isPass) failures += 1
    if (client === null) continue
    const tally = tallies.get(`${client}/${kind}`) ?? { passed: 0, all: 0 }
    tallies.set(`${client}/${kind}`, { passed: tally.passed + (isPass ? 1 : 0), all: tally.all + 1 })
  }
  return failures
}

/** The client that a test is about: one of its suites has the name, or its whole file is that client's. */
function clientOf(file: string, path: readonly string[]): string | null {
  const named = clients.find(({ name }) => path.includes(name))
  if (named !== undefined) return named.name
  return file.endsWith('structured/openai.test.ts') ? 'OpenAI SDK 7' : null
}

function rowOf({ name, packages }: Client, tallies: ReadonlyMap<string, Tally>): string[] {
  const versions = packages.map((each) => `\`${each.replace(/-\d$/, '')}\` ${installedVersion(each)}`)
  const kinds: readonly Kind[] = ['basics', 'tools', 'faults']
  const counts = kinds.map((kind) => {
    const tally = tallies.get(`${name}/${kind}`)
    return tally === undefined ? 'not run' : `${tally.passed} of ${tally.all}`
  })
  return [name, versions.join(', '), ...counts]
}
