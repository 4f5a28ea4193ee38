import { z } from 'zod'
import { fromEnvironment } from './sink-schema.ts'

/** Whether a word of a command names this machine's own address; vLLM's option is followed by it or has it behind a sign. */
const isLoopback = (word: string) => ['127.0.0.1', '--host=127.0.0.1', 'localhost', '--host=localhost'].includes(word)

const replica = z
  .strictObject({
    /** Where it listens, as http://10.0.0.4:8000; null where it is found by name. */
    url: z
      .url({ protocol: /^https?$/ })
      .refine((url) => new URL(url).origin === url, 'must be an address without a path, such as http://10.0.0.4:8000')
      .nullable()
      .default(null),
    /** A name behind which there are any number of them: a host with a port, or the name of SRV records. */
    dns: z
      .string()
      .regex(
        /^(?:[A-Za-z0-9][\w.-]*:\d{1,5}|_[\w-]+\._tcp\.[\w.-]+)$/,
        'must be a host with a port, such as vllm.svc:8000, or the name of SRV records, such as _http._tcp.vllm.svc',
      )
      .nullable()
      .default(null),
    /** A program with its arguments that is started here and listens at the port that stands for {port}; no shell reads it. */
    command: z
      .array(z.string().min(1).max(4_000))
      .min(1)
      .max(200)
      .refine((words) => words.slice(1).some((word) => word.includes('{port}')), 'must have {port} in an argument')
      .nullable()
      .default(null),
    kind: z.enum(['llama-server', 'vllm', 'sglang', 'ollama', 'chat-completions']),
    /** What a server that takes messages calls the model; null takes the first that it names. */
    model: z.string().min(1).max(200).nullable().default(null),
    /** The variable with the key that it asks for; null sends none. */
    key: fromEnvironment.nullable().default(null),
    /** The most answers that it is given at a time; null takes what it says itself. */
    runningMax: z.int().min(1).max(10_000).nullable().default(null),
  })
  .refine(
    ({ url, dns, command }) => [url, dns, command].filter((one) => one !== null).length === 1,
    'must have one of url, dns and command',
  )
  .refine(({ command, kind }) => command === null || kind !== 'vllm' || command.some(isLoopback), {
    path: ['command'],
    message: 'must have --host 127.0.0.1: vLLM listens on every address otherwise',
  })

type Pool = {
  readonly tokenizer: string | null
  readonly sharedCache: boolean
  readonly replicas: readonly z.output<typeof replica>[]
}

/** Whether a pool's replicas take messages, so that what they count is reported and not known. */
export function takesMessages({ replicas }: Pick<Pool, 'replicas'>): boolean {
  return replicas.some(({ kind }) => kind === 'ollama' || kind === 'chat-completions')
}

function checkPool(pool: Pool, context: z.RefinementCtx): void {
  const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  const isReported = takesMessages(pool)
  for (const [index, { kind, model }] of pool.replicas.entries()) {
    const isOne = kind === 'ollama' || kind === 'chat-completions'
    if (isReported && !isOne) refuse(['replicas', index, 'kind'], 'must not take tokens where others take messages')
    if (!isReported && model !== null) refuse(['replicas', index, 'model'], 'is for replicas that take messages')
  }
  if (!isReported && pool.tokenizer === null) refuse(['tokenizer'], 'must name a GGUF file with the vocabulary')
  if (isReported && pool.tokenizer !== null) refuse(['tokenizer'], 'is for replicas that take tokens')
  if (isReported && !pool.sharedCache)
    refuse(['sharedCache'], 'must be true: replicas that take messages do not keep organizations apart')
}

/** Replicas of one model elsewhere. */
const pool = z
  .strictObject({
    /** A GGUF file with the model's vocabulary and chat template, or a folder with a tokenizer.json; a relative path counts from the config file's folder. Null where the replicas take messages. */
    tokenizer: z.string().min(1).nullable().default(null),
    replicas: z
      .array(replica)
      .min(1)
      .refine((all) => {
        const addresses = all.flatMap(({ url, dns }) => url ?? dns ?? [])
        return new Set(addresses).size === addresses.length
      }, 'must not name an address twice'),
    /** Further tries of a request whose replica fails, at others. */
    retries: z.int().min(0).max(5).default(2),
    /** Which answers go on at another replica when theirs is lost in their midst. */
    resume: z.enum(['never', 'temperature-0', 'always']).default('temperature-0'),
    /** Lets one organization's requests use what a llama-server holds of another's. */
    sharedCache: z.boolean().default(false),
    /** The most one conversation may hold; null takes the smallest window of the replicas. */
    windowTokensMax: z.int().min(512).max(1_000_000).nullable().default(null),
  })
  .superRefine(checkPool)

export type PoolSettings = z.output<typeof pool>

export const pools = z
  .record(z.string().regex(/^[\w.-]{1,64}$/, 'must be named in letters, digits, dots and hyphens'), pool)
  .default({})
