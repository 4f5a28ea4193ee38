import type { FastifyReply } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { takeOver } from './raw-response.ts'

/** Well within the 60 s after which common proxies, and the 300 s after which clients, give up on a silent server. */
const firstSpaceMs = 30_000
const spaceIntervalMs = 15_000

/**
 * Writes an answer that comes all at once, perhaps after a long time.
 *
 * JSON may begin with white space, so a space now and then keeps the connection
 * alive. The first one commits to status 200: a failure after it can only cut
 * the connection, which clients take as a failure and try again.
 */
export class WholeAnswerWriter {
  readonly #reply: FastifyReply
  readonly #clock: Clock
  readonly #completeHead: () => void
  #isCommitted = false
  #cancel: () => void

  /** `completeHead` puts on the answer's head, just before it is sent, what changes until then. */
  constructor(reply: FastifyReply, clock: Clock, completeHead: () => void) {
    this.#reply = reply
    this.#clock = clock
    this.#completeHead = completeHead
    this.#cancel = clock.after(firstSpaceMs, () => this.#keepAlive())
  }

  async send(json: string): Promise<void> {
    this.#cancel()
    if (this.#isCommitted) {
      this.#reply.raw.end(json)
      return
    }
    this.#completeHead()
    await this.#reply.code(200).type('application/json').send(json)
  }

  /** Whether it was too late to answer with an error; the connection is cut then. */
  giveUp(): boolean {
    this.#cancel()
    if (this.#isCommitted) this.#reply.raw.destroy()
    return this.#isCommitted
  }

  #keepAlive(): void {
    const { raw } = this.#reply
    if (!this.#isCommitted) {
      this.#isCommitted = true
      this.#completeHead()
      const { headers } = takeOver(this.#reply)
      raw.on('error', () => {})
      raw.writeHead(200, { ...headers, 'content-type': 'application/json' })
    }
    if (!raw.destroyed && !raw.writableNeedDrain) raw.write(' ')
    this.#cancel = this.#clock.after(spaceIntervalMs, () => this.#keepAlive())
  }
}
