// Gateways that are killed in the midst of what a directory asks of them, and a client that asks another one then, as
// Okta and Entra do.

import { equal, ok } from 'node:assert/strict'
import type { Service } from '../../harness/start-service.ts'
import { pause } from '../campaign.ts'
import type { Shared } from '../gateways/start-gateways.ts'
import type { Random } from '../random.ts'
import { authorize, RawConnection, toBytes } from '../raw-http.ts'

const gatewaysMost = 3
const attemptsMax = 60
const pauseMs = 250
const waitMsMax = 60_000

export type Fields = Readonly<Record<string, unknown>>
export type Sent = { readonly method: string; readonly path: string; readonly body?: Fields; readonly ifMatch?: string }
export type Told = {
  readonly status: number
  readonly body: Fields
  readonly text: string
  /** An earlier attempt got no answer: what it asks for may have been done. */
  readonly isRepeated: boolean
}

/** Three services on one database, of which any may be killed at any time. */
export class Gateways {
  readonly #shared: Shared
  readonly #token: string
  #services: readonly Service[] = []
  #replacing: Promise<void> = Promise.resolve()
  kills = 0
  /** Requests that got no answer since their gateway was killed. */
  lost = 0

  constructor(shared: Shared, token: string) {
    this.#shared = shared
    this.#token = token
  }

  async start(): Promise<void> {
    while (this.#services.length < gatewaysMost) this.#services = [...this.#services, await this.#shared.start()]
  }

  /** In a random order. */
  pick(random: Random): readonly Service[] {
    return this.#services
      .map((service) => ({ service, place: random.next() }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ service }) => service)
  }

  /** Kills one and starts another in its place, unless one is being replaced. Nobody waits for that. */
  kill(random: Random): void {
    if (this.#services.length < gatewaysMost) return
    const [victim] = this.pick(random)
    this.kills += 1
    this.#services = this.#services.filter((service) => service !== victim)
    this.#replacing = this.#replacing.then(async () => {
      await victim?.stop('SIGKILL')
      await this.start()
    })
  }

  /** All three of them, once they are there. */
  async whole(): Promise<readonly Service[]> {
    await this.#replacing
    return this.#services
  }

  /** Asks once. Null where the gateway was killed before it had answered. */
  async askOnce({ address }: Service, { method, path, body, ifMatch }: Sent): Promise<Told | null> {
    const headers = [
      ...authorize(this.#token),
      ['content-type', 'application/scim+json'],
      ...(ifMatch === undefined ? [] : [['if-match', ifMatch] as const]),
    ] as const
    const sent = { method, path: `/scim/v2${path}`, headers, body: body === undefined ? '' : JSON.stringify(body) }
    const connection = new RawConnection(address)
    void connection.send(toBytes(sent))
    // An answer without content has no framing, which the reader waits for.
    const isAnswered = await connection.until(({ status, isComplete }) => isComplete || status === 204, waitMsMax)
    const { status, text } = connection.response
    connection.leave('fin')
    if (status === null || !isAnswered) {
      this.lost += 1
      return null
    }
    return { status, text, body: text === '' ? {} : (JSON.parse(text) as Fields), isRepeated: false }
  }

  /** Asks one gateway after the other until one answers. */
  async ask(random: Random, sent: Sent): Promise<Told> {
    let isRepeated = false
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      const [service] = this.pick(random)
      ok(service !== undefined)
      const told = await this.askOnce(service, sent)
      // Who finds the database slow is asked to come again.
      if (told !== null && told.status !== 503) return { ...told, isRepeated }
      isRepeated ||= told === null
      await pause(pauseMs)
    }
    throw new Error(`${sent.method} ${sent.path} was never answered`)
  }

  async stop(): Promise<void> {
    for (const service of await this.whole()) equal(await service.stop(), 0)
  }
}
