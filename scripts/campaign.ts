// npm run campaign                                  the list
// npm run campaign -- NAME [--seed N] [--count N]   one campaign against a real service
// npm run campaign -- ledger --database postgres    on PostgreSQL, whose server is killed too
// npm run campaign -- takedown --weights FILE       on other weights than the campaign's own
// npm run campaign -- pool-structured --weights FILE --replica vllm=ADDRESS
//                                                   on an engine that runs already and has the vocabulary of that file
//
// A campaign is far longer than a test: it is run by hand, by night, and before a release.

import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Failures, printTable } from '../test/campaigns/campaign.ts'
import { campaigns, type Campaign } from '../test/campaigns/campaigns.ts'

const text = { type: 'string' } as const
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seed: text, count: text, database: text, weights: text, replica: text },
})
const [name] = positionals
const campaign = name !== undefined && Object.hasOwn(campaigns, name) ? campaigns[name] : undefined

if (name === undefined) list()
else if (campaign === undefined) {
  console.error(`There is no campaign ${name}.`)
  list()
  process.exitCode = 1
} else {
  process.exitCode = await runCampaign(name, campaign)
  // A connection that was reset while it was written to keeps the process from ending by itself.
  process.stdout.write('', () => process.exit())
}

function list(): void {
  console.log('Usage: npm run campaign -- NAME [--seed N] [--count N] [--database postgres]\n')
  for (const [known, { about, count, unit }] of Object.entries(campaigns)) {
    console.log(`  ${known.padEnd(14)} ${about} (${count} ${unit})`)
  }
}

async function runCampaign(known: string, { run, count: countDefault, unit }: Campaign): Promise<number> {
  const seed = wholeNumber('seed', values.seed) ?? Math.floor(Math.random() * 2 ** 31)
  const count = wholeNumber('count', values.count) ?? countDefault
  const database = values.database === 'postgres' ? 'postgres' : 'sqlite'
  console.log(`seed ${seed}`)
  console.log(`again: npm run campaign -- ${known} --seed ${seed} --count ${count} --database ${database}\n`)
  // Each service that a campaign starts is ended by a listener of its own should the campaign end early.
  process.setMaxListeners(0)
  Failures.told = (failure) => console.log(`  ✖ ${failure}`)
  const startedMs = performance.now()
  const result = await run({
    seed,
    count,
    database,
    ...(values.weights !== undefined && { weights: resolve(values.weights) }),
    ...(values.replica !== undefined && { replica: readReplica(values.replica) }),
    log: (line) => console.log(`  ${line}`),
  }).catch((error: unknown) => {
    const program = missingProgram(error)
    if (program === null) throw error
    console.error(`The campaign ${known} starts ${program}, which is not on this machine.`)
    return null
  })
  if (result === null) return 1
  const { figures, failures, failureCount } = result
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
  printTable({ [unit]: count, seconds, ...figures, failures: failureCount })
  for (const failure of failures) console.log(`✖ ${failure}`)
  if (failureCount > failures.length) console.log(`… and ${failureCount - failures.length} more`)
  return failureCount === 0 ? 0 : 1
}

/** Reads `KIND=ADDRESS`. */
function readReplica(given: string): { readonly kind: string; readonly url: string } {
  const [, kind, url] = /^([a-z-]+)=(http:.+)$/.exec(given) ?? []
  if (kind === undefined || url === undefined) throw new Error(`--replica takes KIND=ADDRESS, not ${given}.`)
  return { kind, url }
}

/** The program that could not be started because there is none; null where something else was wrong. */
function missingProgram(error: unknown): string | null {
  const { code, syscall, path } = error as NodeJS.ErrnoException
  return code === 'ENOENT' && syscall?.startsWith('spawn') === true ? (path ?? null) : null
}

function wholeNumber(option: string, given: string | undefined): number | null {
  if (given === undefined) return null
  if (/^\d{1,10}$/.test(given)) return Number(given)
  console.error(`--${option} takes a whole number, not ${given}.`)
  process.exit(1)
}
