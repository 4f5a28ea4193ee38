import type { Service } from '../../harness/start-service.ts'
import { pause } from '../campaign.ts'
import { createRandom, type Random } from '../random.ts'
import { readUsage, type ReportedUsage } from '../reported-usage.ts'
import { askOnce, plainBody } from './demand.ts'
import type { Key } from './start-gateways.ts'

/** Without a limit, with one per minute, and with a budget: how far each is served depends on that. */
export const kinds = ['free', 'limited', 'paid'] as const
export type Kind = (typeof kinds)[number]
export type Keys = Readonly<Record<Kind, Key>>

export type Answer = {
  readonly kind: Kind
  readonly gateway: number
  readonly askedMs: number
  readonly tookMs: number
  readonly status: number | null
  readonly id: string
  /** What a whole answer says it cost; null for any other. */
  readonly usage: ReportedUsage | null
  readonly text: string
}

export type Load = { readonly answers: readonly Answer[]; end(): Promise<void> }

type LoadOptions = { readonly services: readonly Service[]; readonly keys: Keys; readonly seed: number }

/** So often each client asks. Money is to be left when PostgreSQL returns, so it is spent slowly. */
const pauseMs = { free: 20, limited: 50, paid: 200 }

/** One client for each kind of key at each gateway, until it is ended. */
export function startLoad({ services, keys, seed }: LoadOptions): Load {
  const answers: Answer[] = []
  let isOver = false
  const client = async (service: Service, gateway: number, kind: Kind) => {
    const random = createRandom(seed, gateway * kinds.length + kinds.indexOf(kind))
    while (!isOver) {
      answers.push({ kind, gateway, ...(await askAndRead(service, keys[kind], random)) })
      await pause(pauseMs[kind])
    }
  }
  const clients = services.flatMap((service, gateway) => kinds.map((kind) => client(service, gateway, kind)))
  return {
    answers,
    async end() {
      isOver = true
      await Promise.all(clients)
    },
  }
}

async function askAndRead(service: Service, { key }: Key, random: Random) {
  const askedMs = performance.now()
  // For one that is repeated the database is asked whether the answer before it arrived.
  const response = await askOnce(service, key, plainBody(random, 5, 16), random.chance(0.2))
  const { status, isComplete, text, headers } = response
  const isWhole = status === 200 && isComplete
  const usage = isWhole ? readUsage(response, 'chat') : null
  return { askedMs, tookMs: performance.now() - askedMs, status, id: headers.get('x-request-id') ?? '', usage, text }
}
