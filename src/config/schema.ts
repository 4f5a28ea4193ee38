import { z } from 'zod'
import type { ModelId } from '../core/model.ts'
import { parseAddressList } from '../lib/network/address-list.ts'
import { parseCosigner } from '../lib/signed-note.ts'
import { mailRelay, type MailSecrets } from './mail-schema.ts'
import { modelsSchema } from './models-schema.ts'
import { pools } from './pool-schema.ts'
import { sinks } from './sink-schema.ts'

const portRule = 'must be a whole number from 0 to 65535'
/** 0 takes any that is free. */
const port = z.int(portRule).min(0, portRule).max(65_535, portRule)
const host = z.string().regex(/^[^\s\p{Cc}]+$/u, 'must be an address or a name, without spaces')
const addressList = z
  .array(z.string())
  .refine((entries) => !('fault' in parseAddressList(entries)), 'must be a list of addresses and CIDR blocks')
  .default([])

const engine = z.strictObject({
  gpu: z.enum(['auto', 'off', 'cuda', 'vulkan', 'metal']).default('auto'),
  /** Answers generated at the same time per loaded file; null chooses by memory, 8 at most. */
  slots: z.int().min(1).max(256).nullable().default(null),
  /** Never more than there are processors; null leaves one to the service, and takes a single one for very small weights. */
  threads: z.int().min(1).max(1_024).nullable().default(null),
  /** `high` has engines precede other programs on the processors, where the system lets the service do so. */
  priority: z.enum(['normal', 'high']).default('normal'),
  /** The most one conversation may hold in memory; the weights' own window wins where it is smaller. */
  windowTokensMax: z.int().min(512).max(1_000_000).default(1_000_000),
  /** How the numbers of the attention's memory are kept: q8_0 takes 53 % of the memory of f16, q4_0 28 %, and answers less exactly. */
  kvCacheType: z.enum(['f16', 'q8_0', 'q4_0']).default('f16'),
  /** The most prompt tokens computed in one step; fewer where a step would take longer than a quarter of a second. */
  batchTokens: z.int().min(1).max(8_192).default(512),
  /** The same request with the same seed gives the same bytes also under load, at the price of decoding answers one by one. */
  reproducible: z.boolean().default(false),
  /** Answers that repeat a text are computed several tokens at a time, with a number no more than so many ahead. */
  speculation: z.union([z.enum(['on', 'off']), z.int().min(3).max(63)]).default('on'),
  /** Prompts that had to leave their slots stay in memory up to so many bytes; null takes an eighth of the machine's memory. */
  cacheBytesMax: z.int().min(0).nullable().default(null),
  /** A folder where prompts are kept over a restart, encrypted; null keeps none. A relative path counts from the config file's folder. */
  cacheFolder: z.string().min(1).nullable().default(null),
  cacheFolderBytesMax: z.int().min(0).default(20_000_000_000),
  /** Keeps an engine's process to its weights and its folders: as far as the system lets it, not at all, or wholly or not starting it. */
  confinement: z.enum(['auto', 'off', 'require']).default('auto'),
  /** Memory of its own that one engine's process may take before it is ended; null decides by the weights and the machine. */
  memoryBytesMax: z.int().min(268_435_456).nullable().default(null),
  /** Whose content is hashed again before it is loaded: only files that have changed since they were hashed, or all at every start. */
  weightsCheck: z.enum(['changed', 'always']).default('changed'),
  /** Loading that does not advance for this long is given up; null allows a minute more for each 3 GB. */
  loadingStallSecondsMax: z.int().min(1).max(86_400).nullable().default(null),
  /** Weights that nobody has asked for this long are unloaded until somebody does; null keeps them. */
  idleSecondsMax: z.int().min(1).max(2_592_000).nullable().default(null),
})

/** How people sign in to the dashboard. */
const signIn = z.strictObject({
  /** Passkeys are always taken; passwords, with an authenticator app's code behind them, beside them or not. */
  passwords: z.enum(['optional', 'off']).default('optional'),
  /** A session ends when nothing was asked in it for this long. */
  sessionIdleMinutes: z.int().min(1).max(1_440).default(30),
  /** A session ends after this long, whatever is asked in it. */
  sessionHoursMax: z.int().min(1).max(720).default(12),
  /** One more than this ends the person's oldest. */
  sessionsPerUserMax: z.int().min(1).max(1_000).default(20),
  /** Sensitive changes ask again who somebody is when they have shown it longer ago than this. */
  recentMinutes: z.int().min(1).max(60).default(10),
})

/** How people sign in by their organization's own provider. */
const sso = z.strictObject({
  /** Where a provider may be although it is not on the open internet, as addresses and CIDR blocks; plain HTTP is spoken there alone. */
  privateAddresses: addressList,
  /** What a provider says of itself is read anew after so long. */
  metadataRefreshMinutes: z.int().min(1).max(10_080).default(360),
  /** How far a provider's clock may be from ours. */
  clockSkewSeconds: z.int().min(0).max(300).default(60),
  /** How old what a provider says by SAML may be, whatever it says itself. */
  assertionMinutesMax: z.int().min(1).max(60).default(10),
})

/** As browsers write it: no path, and no port where it is the scheme's own. */
const originForm = /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^/?#*\sA-Z]+)$/

const server = z.strictObject({
  /** Where browsers reach the service, as https://ai.example.com; null lets people sign in at http://localhost alone. */
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .refine((url) => new URL(url).origin === url, 'must be an address without a path, such as https://ai.example.com')
    .nullable()
    .default(null),
  /** On SIGTERM, how long new requests are still taken while the service already says that it is not ready. */
  noticeSeconds: z.int().min(0).max(300).default(0),
  /** After that, how long running answers may go on. */
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
  /** Proxies whose X-Forwarded-For is believed, as addresses and CIDR blocks; from anyone else it is overlooked. */
  trustedProxies: addressList,
  /** Whose pages may use the models from a browser, as origins; `*` stands for all. */
  corsOrigins: z.array(z.string().regex(originForm, 'must be an origin such as https://example.com, or *')).default([]),
  /** From a request's first byte to its last; a body of 32 MiB takes so long at 2.2 Mbit/s. */
  requestSecondsMax: z.int().min(1).max(3_600).default(120),
  /** A body that is slower over 15 seconds is given up; the slowest modems were ten times as fast. */
  bodyBytesPerSecondMin: z.int().min(1).max(1_000_000).default(512),
  /** Connections open at once; null takes what the system's limit of descriptors leaves room for, 8,192 at most. */
  connectionsMax: z.int().min(1).max(1_000_000).nullable().default(null),
  /** Connections from one address, or one /64 of IPv6; null does not limit them, and proxies in `trustedProxies` are not limited. */
  connectionsPerAddressMax: z.int().min(1).max(1_000_000).nullable().default(1_024),
  /** Bytes of request bodies in memory, unpacked, a quarter of it for one key; null takes a 32nd of the machine's memory, 64 MiB at least. */
  bodyBytesMax: z
    .int()
    .min(32 * 1_024 * 1_024)
    .nullable()
    .default(null),
  /** How long keys that are in use go on working while the database is away; a minute's outage and its end fit in. */
  keyOutageSeconds: z.int().min(0).max(3_600).default(90),
})

const limits = z.strictObject({
  /** Requests one key may have under way; null does not limit them. */
  concurrentRequestsPerKeyMax: z.int().min(1).nullable().default(null),
  /** Counts of tokens that one key may ask for in a minute; agents count before nearly each request, and each tool by itself. */
  countsPerKeyMinuteMax: z.int().min(1).nullable().default(2_000),
  /** Counts of tokens that one key may have under way, waiting ones included. */
  concurrentCountsPerKeyMax: z.int().min(1).nullable().default(64),
  /**
   * What becomes of an answer when its limit of output tokens is a minute's allowance in debt: it goes on as the limit
   * refills, or ends with `length`.
   */
  outputOverLimit: z.enum(['pause', 'length']).default('pause'),
})

const billing = z.strictObject({
  /** The one currency of all prices, as its three letters. */
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .default('USD'),
  /** Refuses requests for which there is no price. */
  pricesRequired: z.boolean().default(false),
  /** Whether anybody may read at /docs/pricing what the models cost. */
  publicPrices: z.boolean().default(false),
  /** Charges of one key that are voided in a day because their answers did not arrive; further ones stand. */
  reversalsPerKeyDayMax: z.int().min(0).default(20),
  /** Older ledger rows are deleted once their month is invoiced; their sums by the hour and the day stay. Null keeps every row. */
  ledgerDaysMax: z.int().min(1).max(36_500).nullable().default(null),
})

const metrics = z.strictObject({
  /** Who can reach it can read it: there is no key. */
  host: host.default('127.0.0.1'),
  /** Where Prometheus finds `/metrics`; null offers no numbers. */
  port: port.nullable().default(null),
})

const dashboard = z.strictObject({
  /** Whether the service has pages for people besides its API. */
  enabled: z.boolean().default(true),
})

const recordings = z.strictObject({
  /** Whether owners may have what is said in a project's requests kept; without, nothing more is kept in any. */
  enabled: z.boolean().default(true),
})

const traces = z.strictObject({
  /** A collector's OTLP address over HTTP, such as http://127.0.0.1:4318; null sends nothing. */
  endpoint: z
    .url({ protocol: /^https?$/ })
    .nullable()
    .default(null),
  /** The share of requests that are followed; a caller that has decided for its own trace is obeyed. */
  sampleRatio: z.number().min(0).max(1).default(1),
})

const alerts = z.strictObject({
  /** Private networks that webhooks may go to, as addresses and CIDR blocks; everywhere else only public addresses are. */
  allowedNetworks: addressList,
  /** The percentage of the data folder's disk that may be in use before an alert tells of it. */
  diskPercentMax: z.int().min(1).max(100).default(90),
  /** Whether it is kept from which networks keys are used, so that a new one is told of. */
  keyNetworks: z.boolean().default(true),
  /** The relay by which channels to e-mail addresses go out; null lets nobody make one. */
  mail: mailRelay.nullable().default(null),
})

const availability = z.strictObject({
  /** Whether a model that nobody asks is asked for a token every half a minute; without, one that is loaded counts as one that answers. */
  canary: z.enum(['on', 'off']).default('on'),
  /** How long before it maintenance has to be announced, so that it does not count. */
  noticeHoursMin: z.int().min(0).max(8_760).default(72),
  /** How much maintenance of a month does not count. */
  maintenanceHoursPerMonthMax: z.int().min(0).max(744).default(8),
})

const witness = z.strictObject({
  /** Before `/add-checkpoint`. */
  url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !url.endsWith('/') || new URL(url).pathname === '/', 'must not end with a slash')
    .transform((url) => url.replace(/\/$/, '')),
  /** Its name and key, as `name+number+base64`. */
  key: z.string().refine((key) => parseCosigner(key) !== null, 'must be the key of a witness, as name+number+base64'),
})

const audit = z.strictObject({
  /** How the logs of this installation are called in what it signs; null is the host of `server.publicUrl`. A log that was signed once keeps its name. */
  logName: z
    .string()
    .regex(/^[\d.A-Za-z-]{1,100}$/)
    .nullable()
    .default(null),
  /** A key to sign with that is not in the data folder, and the command that signs with it; null signs with the file there. */
  signer: z
    .strictObject({
      /** Its 32 bytes in base64. */
      publicKey: z
        .string()
        .regex(/^[\d+/A-Za-z]{42}[048AEIMQUYcgkosw]=$/, 'must be the 32 bytes of an Ed25519 key in base64'),
      /** The program and its arguments, which no shell sees. */
      command: z.array(z.string().min(1)).min(1),
    })
    .nullable()
    .default(null),
  /** Older rows are deleted as far as they are signed for; their hashes stay. Null keeps every row. */
  daysMax: z.int().min(1).max(36_500).nullable().default(null),
  /** Where the audit of the installation and of every organization is pushed to. */
  sinks,
  /** Who cosigns checkpoints of the audit, as C2SP's tlog-witness describes them. */
  witnesses: z.array(witness).default([]),
})

/** The config file. Every field may be left out; an unknown one is a fault, since it is most likely a typing error. */
export const configFileSchema = z.strictObject({
  host: host.default('127.0.0.1'),
  port: port.default(8_080),
  logLevel: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** Whom clients are told to ask for higher limits, such as an address or a page; null tells them nothing. */
  contact: z
    .string()
    .regex(/^[^\p{Cc}\u2028\u2029]{1,200}$/u, 'must be a line of at most 200 characters')
    .nullable()
    .default(null),
  models: modelsSchema.prefault({}),
  /** By names that models refer to. */
  pools,
  engine: engine.prefault({}),
  server: server.prefault({}),
  signIn: signIn.prefault({}),
  sso: sso.prefault({}),
  limits: limits.prefault({}),
  billing: billing.prefault({}),
  audit: audit.prefault({}),
  availability: availability.prefault({}),
  alerts: alerts.prefault({}),
  metrics: metrics.prefault({}),
  traces: traces.prefault({}),
  dashboard: dashboard.prefault({}),
  recordings: recordings.prefault({}),
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
  /** PostgreSQL's address, with its password in it; null keeps everything in the data folder. */
  readonly databaseUrl: string | null
  /** Where relative paths in the config file count from. */
  readonly configFolder: string
  /** The keys of replicas, by the names of their variables. */
  readonly replicaKeys: Readonly<Record<string, string>>
  /** What sinks of the audit sign with and show of themselves, by the names of their variables. */
  readonly sinkSecrets: Readonly<Record<string, string>>
  /** What the settings of the mail relay point to; null where there is none. */
  readonly mailSecrets: MailSecrets | null
  /** What an engine child may know of the environment. */
  readonly childEnvironment: Readonly<Record<string, string>>
  /** The process that stands in for this one, whose end is its end; null where there is none. */
  readonly launcherPid: number | null
}
