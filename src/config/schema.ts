import { z } from 'zod'
import type { ModelId } from '../core/model.ts'

const model = z.strictObject({
  /** A GGUF file; a relative path counts from the config file's folder. Null runs the starter weights. */
  weights: z.string().min(1).nullable().default(null),
  /** Whether the model thinks when a request does not say. */
  thinking: z.enum(['on', 'off']),
  /** The most one answer may hold, whatever a client asks for. */
  outputTokensMax: z.int().min(1).max(1_000_000).default(64_000),
})

const engine = z.strictObject({
  gpu: z.enum(['auto', 'off', 'cuda', 'vulkan', 'metal']).default('auto'),
  /** Answers generated at the same time per loaded file; null chooses by memory, 8 at most. */
  slots: z.int().min(1).max(256).nullable().default(null),
  /** Null takes one thread per core, and a single one for very small weights. */
  threads: z.int().min(1).max(1_024).nullable().default(null),
  /** The most one conversation may hold in memory; the weights' own window wins where it is smaller. */
  windowTokensMax: z.int().min(512).max(1_000_000).default(1_000_000),
  /** Prompt tokens computed in one step; running answers wait for one step at most. */
  batchTokens: z.int().min(32).max(8_192).default(512),
  /** The same request with the same seed gives the same bytes also under load, at the price of decoding answers one by one. */
  reproducible: z.boolean().default(false),
  /** Prompts that had to leave their slots stay in memory up to so many bytes; null takes an eighth of the machine's memory. */
  cacheBytesMax: z.int().min(0).nullable().default(null),
  /** A folder where prompts are kept over a restart, encrypted; null keeps none. A relative path counts from the config file's folder. */
  cacheFolder: z.string().min(1).nullable().default(null),
  cacheFolderBytesMax: z.int().min(0).default(20_000_000_000),
})

const server = z.strictObject({
  /** On SIGTERM, how long running answers may go on. */
  drainSeconds: z.int().min(0).max(3_600).default(120),
  /** After a swap of weights, how long answers of the old ones may go on; both are in memory until then. */
  swapDrainSeconds: z.int().min(0).max(86_400).default(3_600),
  /** Requests per loaded file that may wait for a slot; further ones are refused as overloaded. */
  waitingRequestsMax: z.int().min(0).max(10_000).default(64),
  /** What waits is in memory, its text several times over; twice the largest body, or 64 conversations of a quarter million tokens. */
  waitingBytesMax: z
    .int()
    .min(1)
    .default(64 * 1_024 * 1_024),
  /** A request that had to wait this long is refused before it is begun: hardly anybody waits for it any more. */
  queueSecondsMax: z.int().min(1).max(3_600).default(300),
})

const limits = z.strictObject({
  /** Requests one key may have under way; null does not limit them. */
  concurrentRequestsPerKeyMax: z.int().min(1).nullable().default(null),
})

/** The config file. Every field may be left out; an unknown one is a fault, since it is most likely a typing error. */
export const configFileSchema = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(8_080),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  models: z
    .strictObject({
      'clarke-1.0': model.prefault({ thinking: 'off' }),
      'hal-1.0': model.prefault({ thinking: 'on' }),
      'tycho-1.0': model.prefault({ thinking: 'off' }),
    })
    .prefault({}),
  engine: engine.prefault({}),
  server: server.prefault({}),
  limits: limits.prefault({}),
})

export type ConfigFile = z.output<typeof configFileSchema>

/** Who chose a model's weights: the config file, the operator's commands, or nobody, which runs what comes with Odyssey. */
export type WeightsChoice = 'config-file' | 'command' | 'built-in'

export type Config = Readonly<ConfigFile> & {
  /** The config file, whether it exists or not. */
  readonly configPath: string
  readonly weightsChoices: Readonly<Record<ModelId, WeightsChoice>>
  /** The data folder, absolute. */
  readonly home: string
  /** Where relative paths in the config file count from. */
  readonly configFolder: string
  /** What an engine child may know of the environment. */
  readonly childEnvironment: Readonly<Record<string, string>>
}
