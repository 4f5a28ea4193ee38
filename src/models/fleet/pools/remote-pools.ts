import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../../../config/config-error.ts'
import { takesMessages, type PoolSettings } from '../../../config/pool-schema.ts'
import type { Config } from '../../../config/schema.ts'
import type { EngineState } from '../../../core/engine.ts'
import { modelIds, type ModelId } from '../../../core/model.ts'
import type { ReplicaFacts, ReplicaKind, ReportedKind } from '../../../engines/remote/dialect.ts'
import { MessageReplica } from '../../../engines/remote/messages/message-replica.ts'
import { RemoteReplica } from '../../../engines/remote/remote-replica.ts'
import type { LoadSettings } from '../../../engines/llama/ipc.ts'
import { TextChild } from '../../../engines/llama/text-child.ts'
import { TableReader } from '../../../engines/text/model-text.ts'
import { isTokenizerFolder, tokenizerFiles } from '../../../engines/text/tokenizer-folder.ts'
import type { ChildOptions } from '../../../engines/llama/child-options.ts'
import { pause, systemClock } from '../../../lib/clock.ts'
import { randomId } from '../../../lib/random-id.ts'
import type { NewsChannel } from '../../../scheduling/pool/placement-news.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { Lane } from '../../catalog.ts'
import { createQueue } from '../start-engine.ts'
import { PoolEngine } from './pool-engine.ts'
import type { PoolNews } from './pool-members.ts'
import { ReportedEngine } from './reported-engine.ts'

export type RemotePoolsParts = {
  readonly config: Config
  readonly log: Log
  /** The way to other gateways that use the same replicas; absent where there are none. */
  readonly openChannel?: (() => NewsChannel & { close(): Promise<void> }) | undefined
}

type OpenPool = Lane & { readonly engine: PoolEngine | ReportedEngine; readonly models: readonly ModelId[] }

/** A model that a pool answers for, as the pool is. */
export type PooledModel = {
  readonly model: ModelId
  readonly pool: string
  readonly state: EngineState
  readonly reason: string | null
  /** Null until a replica has told. */
  readonly windowTokens: number | null
  readonly isBuiltIn: false
}

const readyLookMs = 100

/** The pools that models refer to; others that the config file names are not opened. */
export class RemotePools {
  readonly #pools: readonly OpenPool[]
  readonly #channel: ReturnType<NonNullable<RemotePoolsParts['openChannel']>> | null

  constructor({ config, log, openChannel }: RemotePoolsParts) {
    const named = new Set(modelIds.flatMap((id) => config.models[id].pool ?? []))
    this.#channel = named.size === 0 ? null : (openChannel?.() ?? null)
    const news = this.#channel === null ? {} : { news: { gatewayId: randomId(), channel: this.#channel } }
    this.#pools = [...named].map((name) => {
      const settings = config.pools[name]
      if (settings === undefined) throw new ConfigError([`There is no pool ${name} in pools.`])
      const models = modelIds.filter((id) => config.models[id].pool === name)
      const engine = openPool(name, settings, { config, log: log.child({ pool: name }), ...news })
      return { engine, models, queue: createQueue(config, engine) }
    })
  }

  /** Null for a model that no pool answers for. */
  of(id: ModelId): Lane | null {
    return this.#pools.find(({ models }) => models.includes(id)) ?? null
  }

  get all(): readonly OpenPool[] {
    return this.#pools
  }

  list(): PooledModel[] {
    return this.#pools.flatMap(({ engine, models }) => {
      const { state, windowTokens } = engine.status()
      const reason = state === 'ready' ? null : engine.reason
      return models.map(
        (model) => ({ model, pool: engine.name, state, reason, windowTokens, isBuiltIn: false }) as const,
      )
    })
  }

  /**
   * Replaces the replicas of a pool that are started here one after another, as its settings now have them: their commands
   * may be others, but not how many there are.
   */
  async roll(name: string, { replicas }: PoolSettings): Promise<void> {
    const pool = this.#pools.find(({ engine }) => engine.name === name)
    await pool?.engine.membership.roll(replicas.flatMap(({ command }) => (command === null ? [] : [command])))
  }

  /** Resolves when every pool can take requests. */
  async whenReady(): Promise<void> {
    while (this.#pools.some(({ engine }) => engine.status().state === 'loading')) await pause(systemClock, readyLookMs)
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map(({ engine }) => engine.close()))
    await this.#channel?.close()
  }
}

function openPool(
  name: string,
  settings: PoolSettings,
  { config, log, news }: Pick<RemotePoolsParts, 'config' | 'log'> & { readonly news?: PoolNews },
): PoolEngine | ReportedEngine {
  const { retries, resume, sharedCache, windowTokensMax } = settings
  const members = settings.replicas.map(({ key, ...replica }) => {
    return { ...replica, key: key === null ? null : (config.replicaKeys[key.slice('env:'.length)] ?? null) }
  })
  const rest = ({ url: _url, dns: _dns, command: _command, ...replica }: (typeof members)[number]) => replica
  const replicas = members.flatMap((one) => (one.url === null ? [] : [{ ...rest(one), url: one.url }]))
  const names = members.flatMap((one) => (one.dns === null ? [] : [{ ...rest(one), dns: one.dns }]))
  const commands = members.flatMap((one) => (one.command === null ? [] : [{ ...rest(one), command: one.command }]))
  const common = {
    name,
    ...(news !== undefined && { news }),
    processes: { folder: config.configFolder, environment: config.childEnvironment },
    retries,
    windowTokensMax,
    clock: systemClock,
    log,
    readyWaitMsMax: config.server.queueSecondsMax * 1_000,
    random: Math.random,
  }
  if (takesMessages(settings))
    return new ReportedEngine({
      ...common,
      replicas: replicas.filter(isReported),
      names: names.filter(isReported),
      commands: commands.filter(isReported),
    })
  const tokenizer = resolve(config.configFolder, settings.tokenizer ?? '')
  if (!existsSync(tokenizer)) throw new ConfigError([`pools.${name}.tokenizer: there is no file at ${tokenizer}.`])
  const text = textOptions(config, tokenizer, log)
  return new PoolEngine({
    ...common,
    resume,
    sharedCache,
    text,
    replicas: replicas.filter(takesTokens),
    names: names.filter(takesTokens),
    commands: commands.filter(takesTokens),
  })
}

type AnyKind = { readonly kind: ReplicaKind | ReportedKind }

function isReported<Replica extends AnyKind>(replica: Replica): replica is Replica & { readonly kind: ReportedKind } {
  return replica.kind === 'ollama' || replica.kind === 'chat-completions'
}

function takesTokens<Replica extends AnyKind>(replica: Replica): replica is Replica & { readonly kind: ReplicaKind } {
  return !isReported(replica)
}

/** Nothing but the vocabulary and the template is loaded of the file. */
function textOptions(config: Config, weightsPath: string, log: Log): ChildOptions {
  return {
    ...vocabularyOptions(weightsPath),
    environment: config.childEnvironment,
    clock: systemClock,
    confinement: config.engine.confinement,
    onExit: () => {},
    onOutput: (line) => log.warn({ line }, 'tokenizer output'),
  }
}

export type CheckedAddress = {
  readonly address: URL
  readonly key: string | null
  readonly childEnvironment: Readonly<Record<string, string>>
} & (
  | { readonly kind: ReplicaKind; readonly tokenizer: string }
  /** What the server calls the model; null for the first that it names. */
  | { readonly kind: ReportedKind; readonly model: string | null }
)

export type CheckedReplica = {
  readonly facts: ReplicaFacts
  /** In words, by what each is called. */
  readonly capabilities: readonly (readonly [name: string, value: string])[]
}

const cachedInWords = {
  start: 'told with the first token',
  end: 'told with the last token',
  never: 'not told',
} as const

/** Proves a server as a pool does with its replicas. Throws what keeps it from being one. */
export async function checkReplica(asked: CheckedAddress): Promise<CheckedReplica> {
  return 'tokenizer' in asked ? checkByTokens(asked) : checkByMessages(asked)
}

async function checkByMessages(asked: CheckedAddress & { readonly kind: ReportedKind }): Promise<CheckedReplica> {
  const { address, kind, key, model } = asked
  const replica = new MessageReplica({ kind, address, key, model, clock: systemClock })
  try {
    const facts = await replica.prove()
    const { tools, toolChoice, schema, thinking } = facts.takes
    const inWords = (isTaken: boolean) => (isTaken ? 'yes' : 'no')
    return {
      facts,
      capabilities: [
        ['model', facts.modelName ?? 'not told'],
        ['tokens in', 'no: what it counts is reported, and cannot be checked'],
        ['tools', tools && !toolChoice ? 'yes, but none can be forced' : inWords(tools)],
        ['schema', inWords(schema)],
        ['thinking switch', inWords(thinking)],
        ['isolation', 'none'],
        ['abort', 'by closing the connection'],
      ],
    }
  } finally {
    replica.close()
  }
}

async function checkByTokens(asked: CheckedAddress & { readonly kind: ReplicaKind }): Promise<CheckedReplica> {
  const { address, kind, key, tokenizer, childEnvironment } = asked
  const child = new TextChild({
    ...vocabularyOptions(tokenizer),
    environment: childEnvironment,
    clock: systemClock,
    onExit: () => {},
    onOutput: () => {},
  })
  const replica = new RemoteReplica({ kind, address, key, clock: systemClock })
  try {
    const { vocabulary } = await child.describe(new AbortController().signal)
    const facts = await replica.prove(new TableReader(vocabulary))
    const { dialect } = replica
    const isTold = !facts.missing.includes('--enable-prompt-tokens-details')
    const isAsked = (dialect.abort?.('any', facts) ?? null) !== null
    return {
      facts,
      capabilities: [
        ['tokens in', `yes, by ${facts.route}`],
        ['grammar', 'yes'],
        ['cached tokens', isTold ? cachedInWords[dialect.cachedTokens] : cachedInWords.never],
        ['isolation', dialect.isolates ? 'by itself' : 'by slots that the pool keeps apart'],
        ['abort', isAsked ? 'by a request, or closing the connection' : 'by closing the connection'],
      ],
    }
  } finally {
    replica.close()
    await child.close()
  }
}

/** The same for a GGUF and for a folder with a `tokenizer.json`, of which all files may be read and none is checked as weights. */
export function vocabularyOptions(path: string): Pick<ChildOptions, 'settings' | 'checkWeights'> {
  const settings = vocabularyOnly(path)
  if (!isTokenizerFolder(path)) return { settings }
  return {
    settings,
    async checkWeights() {
      const paths = tokenizerFiles(path)
      const bytes = paths.reduce((sum, file) => sum + statSync(file).size, 0)
      return { paths, bytes, architecture: 'tokenizer', metadata: {} }
    },
  }
}

/** Settings for a child that loads the vocabulary and the template of a file and nothing else. */
export function vocabularyOnly(weightsPath: string): LoadSettings {
  return {
    weightsPath,
    gpu: 'off',
    slots: null,
    windowTokensMax: 1_000_000,
    threads: null,
    batchTokens: 512,
    isReproducible: false,
    draftTokensMax: 0,
    cacheBytesMax: 0,
    cacheOnDisk: null,
  }
}
