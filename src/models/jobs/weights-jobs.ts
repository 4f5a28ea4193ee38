import { loadHubSettings, type HubSettings } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { ChosenWeights } from '../../config/weights-map.ts'
import type { ModelId } from '../../core/model.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Log } from '../../telemetry/log.ts'
import { freeBytes } from '../download/disk-room.ts'
import { DownloadError, describeFault } from '../download/download-error.ts'
import type { Progress } from '../download/fetch-file.ts'
import { fetchWeights } from '../download/fetch-weights.ts'
import { defaultRetryPolicy, type RetryPolicy } from '../download/retry.ts'
import { parseWeightsSource } from '../download/weights-source.ts'
import type { Swap } from '../fleet/swap-weights.ts'
import type { SwapProgress, WeightsSwaps } from '../fleet/weights-swaps.ts'
import { readJobs, writeJobs, type StoredJob } from './job-file.ts'
import { SpeedMeter } from './speed-meter.ts'
import { weightsFolderOf } from './weights-folder.ts'

/** A job as it stands now. */
export type Job = StoredJob & {
  readonly bytesDone: number
  readonly bytesTotal: number | null
  /** Over the last seconds; null until that can be told. */
  readonly bytesPerSecond: number | null
}

export type WeightsJobsParts = {
  readonly config: Pick<Config, 'home'>
  readonly hub: () => HubSettings
  readonly clock: Clock
  readonly log: Log
  readonly retryPolicy: RetryPolicy
  /** Swaps when the swaps before it are done; resolves with what became of it. */
  swap(id: string, swap: Swap): Promise<SwapProgress>
}

export type WantedFetch = {
  readonly model: ModelId | null
  readonly source: string
  readonly sha256: string | null
}

/** The jobs of a service, whose hub and its token are those of the environment. */
export function openWeightsJobs({
  config,
  log,
  swaps,
}: Pick<WeightsJobsParts, 'config' | 'log'> & { readonly swaps: Pick<WeightsSwaps, 'run'> }): WeightsJobs {
  const swap: WeightsJobsParts['swap'] = (id, wanted) => swaps.run(id, wanted)
  return new WeightsJobs({
    config,
    log,
    hub: loadHubSettings,
    clock: systemClock,
    retryPolicy: defaultRetryPolicy,
    swap,
  })
}

type Running = { readonly abort: AbortController; readonly speed: SpeedMeter }

/** A full disk stops the service, which answers nothing that it cannot record. */
const spareBytes = 512 * 1024 * 1024
/** Somebody looks at what was done lately; the audit has the rest. */
const rememberedMax = 50

/**
 * Fetches weights and gives them to models in the background.
 *
 * What is under way is written down, so that a service that starts again goes on with it: a fetch from where it was,
 * since what has arrived is kept.
 */
export class WeightsJobs {
  readonly #parts: WeightsJobsParts
  readonly #jobs = new Map<string, StoredJob>()
  readonly #running = new Map<string, Running>()
  readonly #fetches = new Set<Promise<ChosenWeights>>()

  constructor(parts: WeightsJobsParts) {
    this.#parts = parts
    for (const job of readJobs(parts.config.home)) this.#jobs.set(job.id, job)
  }

  /** Takes up again what was fetched when the service ended. A swap that was under way then is decided by the start itself. */
  resume(): void {
    for (const job of this.#jobs.values()) {
      if (job.state !== 'under-way') continue
      if (job.kind === 'fetch') void this.#perform(job, () => this.#fetch(job))
      else this.#end(job, { state: 'failed', message: 'The service ended before the weights were loaded.' })
    }
  }

  /** The newest first. */
  list(): Job[] {
    return [...this.#jobs.values()].map((job) => this.#describe(job)).toReversed()
  }

  find(id: string): Job | null {
    const job = this.#jobs.get(id)
    return job === undefined ? null : this.#describe(job)
  }

  /** What a source is called, without the keys that an address may hold. Throws a `WeightsSourceError` for what is none. */
  nameOf(source: string): string {
    return parseWeightsSource(source, this.#parts.hub().address).name
  }

  /** Fetches weights, and gives them to a model where one is named. */
  startFetch(id: string, wanted: WantedFetch): void {
    const job = this.#create(id, 'fetch', wanted)
    void this.#perform(job, () => this.#fetch(job))
  }

  /** Gives a model weights that are there; null are those that come with Odyssey. */
  startUse(id: string, { model, chosen, name }: Swap & { readonly name: string }): void {
    const job = this.#create(id, 'use', { model, source: name, sha256: null })
    void this.#perform(job, () => this.#use(job, { model, chosen }))
  }

  /** Stops a fetch. What has arrived is kept. Says whether there was something to stop. */
  cancel(id: string): boolean {
    const running = this.#running.get(id)
    const phase = this.#jobs.get(id)?.phase
    if (running === undefined || phase === 'loading') return false
    running.abort.abort()
    return true
  }

  /** Lets go of what is being fetched; the next start takes it up again. A swap ends with the engines. */
  async close(): Promise<void> {
    for (const { abort } of this.#running.values()) abort.abort(closing)
    await Promise.allSettled(this.#fetches)
  }

  #create(id: string, kind: StoredJob['kind'], wanted: WantedFetch): StoredJob {
    const nowMs = this.#parts.clock.nowMs()
    const fresh = { state: 'under-way', phase: 'waiting', message: '', startedAtMs: nowMs, endedAtMs: null } as const
    const job = { id, kind, ...wanted, ...fresh }
    this.#note(job)
    return job
  }

  async #perform(job: StoredJob, work: () => Promise<string>): Promise<void> {
    const abort = new AbortController()
    this.#running.set(job.id, { abort, speed: new SpeedMeter(this.#parts.clock) })
    const { log } = this.#parts
    try {
      const message = await work()
      log.info({ model: job.model, kind: job.kind }, 'a job of weights is done')
      this.#end(job, { state: 'done', message })
    } catch (error) {
      if (abort.signal.reason === closing) return
      const isCancelled = abort.signal.aborted
      if (!isCancelled) log.error({ model: job.model, kind: job.kind, error }, 'a job of weights failed')
      const message = isCancelled ? 'Stopped. What has arrived is kept.' : describeFailure(error, job)
      this.#end(job, { state: isCancelled ? 'cancelled' : 'failed', message })
    } finally {
      this.#running.delete(job.id)
    }
  }

  async #fetch(job: StoredJob): Promise<string> {
    const { config, clock, retryPolicy } = this.#parts
    const hub = this.#parts.hub()
    const signal = this.#running.get(job.id)?.abort.signal ?? AbortSignal.abort()
    const wanted = {
      source: parseWeightsSource(job.source, hub.address),
      hub,
      folder: weightsFolderOf(config.home),
      home: config.home,
      givenSha256: job.sha256,
    }
    this.#enter(job.id, 'fetching')
    const said: string[] = []
    const progress = this.#progressOf(job.id, said)
    const fetching = fetchWeights({ progress, freeBytes, spareBytes, retryPolicy, clock, signal }, wanted)
    this.#fetches.add(fetching)
    const chosen = await fetching.finally(() => this.#fetches.delete(fetching))
    if (job.model === null) return said.at(-1) ?? 'Fetched.'
    return this.#use(job, { model: job.model, chosen })
  }

  async #use(job: StoredJob, swap: Swap): Promise<string> {
    this.#enter(job.id, 'loading')
    const { state, message } = await this.#parts.swap(job.id, swap)
    if (state === 'done') return message
    throw new Error(`${swap.model} keeps its weights. ${message}`)
  }

  #progressOf(id: string, said: string[]): Progress {
    const speed = this.#running.get(id)?.speed
    return {
      begin: (label) => {
        speed?.begin()
        this.#enter(id, label.startsWith('Checking ') ? 'checking' : 'fetching')
      },
      report: (bytes, totalBytes) => speed?.note(bytes, totalBytes),
      say: (text) => said.push(text),
      end: () => {},
    }
  }

  #enter(id: string, phase: StoredJob['phase']): void {
    const job = this.#jobs.get(id)
    if (job !== undefined && job.phase !== phase) this.#note({ ...job, phase })
  }

  #end({ id }: StoredJob, how: Pick<StoredJob, 'state' | 'message'>): void {
    const job = this.#jobs.get(id)
    if (job !== undefined) this.#note({ ...job, ...how, phase: 'over', endedAtMs: this.#parts.clock.nowMs() })
  }

  #note(job: StoredJob): void {
    this.#jobs.set(job.id, job)
    for (const [id, { state }] of this.#jobs) {
      if (this.#jobs.size <= rememberedMax) break
      if (state !== 'under-way') this.#jobs.delete(id)
    }
    try {
      writeJobs(this.#parts.config.home, [...this.#jobs.values()])
    } catch (error) {
      // Then a restart does not go on with it, which is no reason to stop it now.
      this.#parts.log.warn({ error }, 'the jobs of weights cannot be written down')
    }
  }

  #describe(job: StoredJob): Job {
    const speed = this.#running.get(job.id)?.speed
    const source = job.kind === 'fetch' ? this.nameOf(job.source) : job.source
    return { ...job, source, ...(speed?.read() ?? { bytesDone: 0, bytesTotal: null, bytesPerSecond: null }) }
  }
}

const closing = new Error('The service ends.')

function describeFailure(error: unknown, { model }: StoredJob): string {
  return error instanceof DownloadError ? describeFault(error, model ?? 'MODEL') : messageOf(error)
}
