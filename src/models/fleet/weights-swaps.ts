import type { Config } from '../../config/schema.ts'
import { readWeightsMap } from '../../config/weights-map.ts'
import { modelIds, type ModelId } from '../../core/model.ts'
import { messageOf } from '../../lib/message-of.ts'
import { randomId } from '../../lib/random-id.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Swap } from './swap-weights.ts'

export type SwapProgress = {
  readonly id: string
  readonly model: ModelId
  readonly state: 'waiting' | 'under-way' | 'done' | 'refused'
  /** What came of it; of a refused one the reason. */
  readonly message: string
}

export type SwapsParts = {
  readonly config: Config
  readonly log: Log
  /** Returns what to tell the operator, or throws why the old weights stay. */
  swap(swap: Swap): Promise<string>
}

/** Whoever asked for a swap looks after it within seconds, and one operator asks for few. */
const rememberedMax = 100

/** Performs the swaps of weights that operators ask for, one after the other, and remembers what became of them. */
export class WeightsSwaps {
  readonly #parts: SwapsParts
  readonly #progress = new Map<string, SwapProgress>()
  #last: Promise<void> = Promise.resolve()

  constructor(parts: SwapsParts) {
    this.#parts = parts
  }

  start(id: string, swap: Swap): void {
    const waiting = { id, model: swap.model, state: 'waiting', message: '' } as const
    this.#tell(waiting)
    this.#last = this.#last.then(() => this.#perform(waiting, swap))
  }

  /** Starts a swap, and resolves with what became of it. */
  async run(id: string, swap: Swap): Promise<SwapProgress> {
    this.start(id, swap)
    await this.#last
    return this.find(id) ?? { id, model: swap.model, state: 'refused', message: 'Nobody knows any more.' }
  }

  find(id: string): SwapProgress | null {
    return this.#progress.get(id) ?? null
  }

  /** Starts what a command chose while the service was starting: it saw none running, and the service had read the choice before. */
  startLate(): void {
    try {
      this.#startLate()
    } catch (error) {
      this.#parts.log.error({ error }, 'the choice of weights cannot be read')
    }
  }

  #startLate(): void {
    const { home, models, weightsChoices } = this.#parts.config
    const map = readWeightsMap(home)
    for (const model of modelIds) {
      const chosen = map[model] ?? null
      const isAsStarted = weightsChoices[model] === 'config-file' || models[model].weights === (chosen?.weights ?? null)
      if (!isAsStarted) this.start(randomId(), { model, chosen })
    }
  }

  async #perform(progress: SwapProgress, swap: Swap): Promise<void> {
    const { log } = this.#parts
    this.#tell({ ...progress, state: 'under-way' })
    try {
      const message = await this.#parts.swap(swap)
      log.info({ model: swap.model }, 'weights swapped')
      this.#tell({ ...progress, state: 'done', message })
    } catch (error) {
      log.error({ model: swap.model, error }, 'weights not swapped; the old ones go on serving')
      this.#tell({ ...progress, state: 'refused', message: messageOf(error) })
    }
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    for (const [id, { state }] of this.#progress) {
      if (this.#progress.size <= rememberedMax) return
      if (state === 'done' || state === 'refused') this.#progress.delete(id)
    }
  }

  #tell(progress: SwapProgress): void {
    this.#progress.set(progress.id, progress)
  }
}
