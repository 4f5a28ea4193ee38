// npm run replay -- FOLDER                              against services of its own: with the placeholder weights, and
//                                                       with the starter weights what is too long for those
// npm run replay -- FOLDER --base-url URL --key KEY     against a server that runs
//
// Sends the recorded requests of real clients again and judges every answer and stream.

import { parseArgs } from 'node:util'
import type { Listening } from '../test/conformance/clients/client.ts'
import { readRecordings, type Recording } from '../test/replay/recording.ts'
import { replay, type Replayed } from '../test/replay/replay.ts'
import { startService } from '../test/harness/start-service.ts'

const usage = 'Usage: npm run replay -- FOLDER [--base-url URL --key KEY]'

const marks: Readonly<Record<Replayed['verdict'], string>> = { right: '✔', wrong: '✖', 'too-long': '–' }

process.exitCode = await main()

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { 'base-url': { type: 'string' }, key: { type: 'string' } },
  })
  const [folder] = positionals
  const { 'base-url': address, key } = values
  if (folder === undefined || (address === undefined) !== (key === undefined)) {
    console.error(usage)
    return 2
  }
  const recordings = readRecordings(folder)
  if (address !== undefined && key !== undefined) {
    return conclude(await run(recordings, { address: address.replace(/\/(v1\/?)?$/, ''), key }))
  }
  const replayed = await withService('placeholder', (service) => run(recordings, service))
  const tooLong = new Set(replayed.filter(({ verdict }) => verdict === 'too-long').map(({ file }) => file))
  const left = recordings.filter((recording) => tooLong.has(recording.file))
  const again = left.length === 0 ? [] : await withService('built-in', (service) => run(left, service))
  return conclude([...replayed.filter(({ file }) => !tooLong.has(file)), ...again])
}

async function withService<Result>(
  weights: 'placeholder' | 'built-in',
  use: (service: Listening) => Promise<Result>,
): Promise<Result> {
  const service = await startService({ weights })
  try {
    return await use(service)
  } finally {
    await service.stop()
  }
}

async function run(recordings: readonly Recording[], target: Listening): Promise<Replayed[]> {
  const width = Math.max(...recordings.map(({ file }) => file.length))
  const replayed: Replayed[] = []
  for await (const row of replay(recordings, target)) {
    replayed.push(row)
    const mark = marks[row.verdict]
    console.log(`${mark} ${row.file.padEnd(width)} ${row.status ?? '---'} ${(row.ms / 1_000).toFixed(1).padStart(6)} s`)
    if (row.verdict === 'wrong') console.log(`  ${row.request}: ${row.fault}`)
  }
  return replayed
}

function conclude(replayed: readonly Replayed[]): number {
  console.log()
  printTable(replayed)
  return replayed.every(({ verdict }) => verdict !== 'wrong') ? 0 : 1
}

function printTable(replayed: readonly Replayed[]): void {
  const clients = Map.groupBy(replayed, ({ file }) => file.split(/[/\\]/, 1)[0] ?? '')
  const width = Math.max(...[...clients.keys()].map(({ length }) => length), 'client'.length)
  console.log(`${'client'.padEnd(width)}  requests  right  too long  wrong  seconds`)
  for (const [client, rows] of [...clients, ['all', replayed] as const]) {
    const count = (wanted: Replayed['verdict']) => String(rows.filter(({ verdict }) => verdict === wanted).length)
    const totalMs = rows.map(({ ms }) => ms).reduce((sum, ms) => sum + ms, 0)
    const seconds = (totalMs / 1_000).toFixed(1).padStart(7)
    const counts = [count('right').padStart(5), count('too-long').padStart(8), count('wrong').padStart(5)]
    console.log([client.padEnd(width), String(rows.length).padStart(8), ...counts, seconds].join('  '))
  }
}
