import { join } from 'node:path'
import { z } from 'zod'
import { lockHome } from '../db/lock-home.ts'
import {
  modelsAnswer,
  weightsAnswer,
  weightsSwap,
  type LoadedWeights,
  type Queue,
  type WeightsSwap,
} from '../http/api/engine-schemas.ts'
import { poolsAnswer, type PoolStatus } from '../http/api/resources/installation/pool-schemas.ts'
import type { Swap } from '../models/fleet/swap-weights.ts'
import { messageOf } from '../lib/message-of.ts'
import { readServiceFile, type ServiceFile } from '../service/status/service-file.ts'
import { askService } from './ask-service.ts'

/** The service reads none of these from a disk or a database. */
const answerMsMax = 15_000

const problem = z.object({ detail: z.string() })

/** The service that runs on a data folder, asked through its management API with the operator's key. */
export class RunningService {
  readonly pid: number
  /** Where clients reach it. */
  readonly address: string
  readonly #operator: ServiceFile['operator']

  constructor({ pid, address, operator }: ServiceFile) {
    this.pid = pid
    this.address = address
    this.#operator = operator
  }

  async readWeights(): Promise<LoadedWeights[]> {
    return (await this.#ask(weightsAnswer, '/api/v1/weights')).data
  }

  async readPools(): Promise<PoolStatus[]> {
    return (await this.#ask(poolsAnswer, '/api/v1/pools')).data
  }

  /** Gives a replica nothing more, or requests again. Returns the pools as they are then. */
  async drainReplica(pool: string, address: string, drain: boolean): Promise<PoolStatus[]> {
    const body = JSON.stringify({ address, drain })
    const { data } = await this.#ask(poolsAnswer, `/api/v1/pools/${encodeURIComponent(pool)}/drain`, {
      method: 'POST',
      body,
    })
    return data
  }

  /** Begins to replace the replicas that the service starts. */
  async rollPool(pool: string): Promise<void> {
    await this.#ask(poolsAnswer, `/api/v1/pools/${encodeURIComponent(pool)}/roll`, { method: 'POST' })
  }

  async readQueues(): Promise<Queue[]> {
    return (await this.#ask(modelsAnswer, '/api/v1/models')).queues
  }

  startSwap({ model, chosen }: Swap): Promise<WeightsSwap> {
    const body = JSON.stringify({ chosen })
    return this.#ask(weightsSwap, `/api/v1/models/${model}/weights`, { method: 'PUT', body })
  }

  readSwap(id: string): Promise<WeightsSwap> {
    return this.#ask(weightsSwap, `/api/v1/weights/swaps/${id}`)
  }

  async #ask<Schema extends z.ZodType>(
    schema: Schema,
    path: string,
    asked: { readonly method?: string; readonly body?: string } = {},
  ): Promise<z.output<Schema>> {
    const headers = { authorization: `Bearer ${this.#operator.key}`, 'content-type': 'application/json' }
    const url = `${this.#operator.address}${path}`
    const { status, body } = await askService(url, { ...asked, headers, msMax: answerMsMax })
    if (status >= 200 && status < 300) return schema.parse(body)
    throw new Error(problem.safeParse(body).data?.detail ?? `The service answered ${status}.`)
  }
}

/**
 * The service that runs on this data folder, or null when none does.
 *
 * Throws for one that runs and does not answer: what it does is then unknown.
 */
export async function findRunningService(home: string): Promise<RunningService | null> {
  const file = readServiceFile(home)
  if (file === null) return null
  const service = new RunningService(file)
  try {
    await service.readQueues()
    return service
  } catch (error) {
    if (!isServed(home)) return null
    throw new Error(`The service (process ${file.pid}) runs and does not answer. ${messageOf(error)}`, { cause: error })
  }
}

/** Tells a service that does not answer from the file of a killed one, whose process number another program has now. */
function isServed(home: string): boolean {
  const unlock = lockHome(join(home, 'serve.lock'))
  unlock?.()
  return unlock === null
}
