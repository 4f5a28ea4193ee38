import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig, readVariable } from '../config/load.ts'
import { canAnswer } from '../core/engine.ts'
import { replicaKinds, reportedKinds } from '../engines/remote/dialect.ts'
import type { PoolStatus } from '../http/api/resources/installation/pool-schemas.ts'
import { messageOf } from '../lib/message-of.ts'
import { checkReplica, type CheckedReplica } from '../models/fleet/pools/remote-pools.ts'
import { parseArguments } from './parse-arguments.ts'
import { findRunningService, type RunningService } from './running-service.ts'
import { UsageError } from './usage-error.ts'

/** `odyssey pools`: the replicas of the running service, draining one of them, and checking a server by hand. */
export async function poolsCommand([what, ...rest]: string[]): Promise<void> {
  if (what === 'check') return checkCommand(rest)
  if (what === 'roll') return rollCommand(rest)
  if (what === 'drain' || what === 'undrain') return drainCommand(rest, what === 'drain')
  return listCommand(what === undefined ? rest : [what, ...rest])
}

async function listCommand(args: string[]): Promise<void> {
  const { json } = parseArguments({ args, options: { json: { type: 'boolean', default: false } } }).values
  const service = await findRunningService(loadConfig().home)
  const pools = (await service?.readPools()) ?? []
  if (json) console.log(JSON.stringify({ running: service !== null, pools }))
  else if (service === null) console.log('The service is not running.')
  else if (pools.length === 0) console.log('No model is answered for by a pool.')
  else for (const pool of pools) console.log(describeInWords(pool))
}

async function drainCommand(args: string[], isDrained: boolean): Promise<void> {
  const { positionals } = parseArguments({ args, options: {}, words: 2 })
  const [pool, address] = positionals
  if (pool === undefined || address === undefined)
    throw new UsageError(
      `pools ${isDrained ? 'drain' : 'undrain'} takes a pool and the address of one of its replicas.`,
    )
  const service = await requireService()
  const isReady = (pools: readonly PoolStatus[]) => pools.some(({ name, state }) => name === pool && canAnswer(state))
  const wasReady = isReady(await service.readPools())
  const pools = await service.drainReplica(pool, address, isDrained)
  if (!isDrained) return console.log(`${address} is given requests again.`)
  const isLast = wasReady && !isReady(pools)
  const waits = `No other one of ${pool} is left: requests wait until one is, ${loadConfig().server.queueSecondsMax} seconds at the most.`
  console.log([`${address} is given nothing more.`, ...(isLast ? [waits] : [])].join('\n'))
}

async function rollCommand(args: string[]): Promise<void> {
  const { positionals } = parseArguments({ args, options: {}, words: 1 })
  const [pool] = positionals
  if (pool === undefined) throw new UsageError('pools roll takes a pool.')
  await (await requireService()).rollPool(pool)
  console.log(
    `The replicas of ${pool} that the service starts are replaced one after another; odyssey pools shows them.`,
  )
}

async function requireService(): Promise<RunningService> {
  const service = await findRunningService(loadConfig().home)
  if (service === null) throw new Error('The service is not running.')
  return service
}

const checkOptions = {
  kind: { type: 'string' },
  tokenizer: { type: 'string' },
  model: { type: 'string' },
  'key-variable': { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

async function checkCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options: checkOptions, words: 1 })
  const [address] = positionals
  if (address === undefined || !URL.canParse(address))
    throw new UsageError('pools check takes the address of a server, such as http://127.0.0.1:8000.')
  const key = requireKey(values['key-variable'])
  const asked = {
    address: new URL(address),
    key,
    childEnvironment: loadConfig().childEnvironment,
    ...requireKind(values),
  }
  const found = await checkReplica(asked).catch((error: unknown) => {
    throw new Error(`${address} cannot be a replica. ${messageOf(error)}`, { cause: error })
  })
  console.log(values.json ? JSON.stringify(found) : describeCheck(address, found))
}

function requireKind({ kind: named, tokenizer, model }: { kind?: string; tokenizer?: string; model?: string }) {
  const kind = replicaKinds.find((one) => one === named)
  if (kind !== undefined) return { kind, tokenizer: requireTokenizer(tokenizer) }
  const reported = reportedKinds.find((one) => one === named)
  if (reported === undefined)
    throw new UsageError(`--kind must be ${[...replicaKinds, ...reportedKinds].join(' or ')}.`)
  return { kind: reported, model: model ?? null }
}

function requireTokenizer(file: string | undefined): string {
  if (file === undefined)
    throw new UsageError(
      '--tokenizer must name a GGUF file with the vocabulary of the model, or a folder with its tokenizer.json.',
    )
  const path = resolve(file)
  if (!existsSync(path)) throw new Error(`There is nothing at ${path}.`)
  return path
}

function requireKey(variable: string | undefined): string | null {
  const key = variable === undefined ? null : readVariable(variable)
  if (variable !== undefined && key === null) throw new Error(`The variable ${variable} is not set.`)
  return key
}

function describeCheck(address: string, { facts, capabilities }: CheckedReplica): string {
  const told: readonly (readonly [string, string | number])[] = [
    ['version', facts.version ?? 'not told'],
    ['window', facts.windowTokens === null ? 'not told' : `${facts.windowTokens} tokens`],
    ['answers at a time', facts.slots ?? 'not told'],
    ...capabilities,
  ]
  const lines = told.map(([name, value]) => `  ${name.padEnd(18)} ${value}`)
  const flags = facts.missing.map(
    (flag) => `  start it with ${flag}: ${missingInWords[flag] ?? 'the pool would use it'}`,
  )
  return [`${address} can be a replica.`, ...lines, ...flags].join('\n')
}

const missingInWords: Readonly<Record<string, string>> = {
  '--enable-scale-out': 'tokens are then taken by a route of their own',
  '--enable-prompt-tokens-details':
    'without it nobody knows how much of a prompt it had already, and all of it is billed as new',
  '--incremental-streaming-output':
    'without it each token is sent with all before it, which long answers cost much for',
}

function describeInWords({ name, models, state, counts, waiting, windowTokens, replicas }: PoolStatus): string {
  const window = windowTokens === null ? '' : `, window ${windowTokens} tokens`
  const noReplicas = replicas.length === 0 ? ['  no replicas'] : []
  const lines = replicas.map((replica) => {
    const pace = replica.tokensPerSecond === null ? '' : `, ${Math.round(replica.tokensPerSecond)} tokens/s`
    const hits = replica.hitRate === null ? '' : `, ${Math.round(replica.hitRate * 100)} % cached`
    const work = `${replica.running} of ${replica.runningMax} answers, ${replica.outstandingTokens} tokens to compute`
    const reason = replica.reason === null ? '' : `\n    ${replica.reason}`
    const started =
      replica.restarts === null
        ? ''
        : replica.restarts === 0
          ? ', started here'
          : `, started again ${replica.restarts} times`
    return `  ${replica.address}  ${replica.kind}  ${replica.state}${started}: ${work}${pace}${hits}${reason}`
  })
  const reported = counts === 'reported' ? ', counts as reported by the replicas' : ''
  return [
    `${name} (${models.join(', ')}): ${state}${window}, ${waiting} waiting${reported}`,
    ...noReplicas,
    ...lines,
  ].join('\n')
}
