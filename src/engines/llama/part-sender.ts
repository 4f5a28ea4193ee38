import { toPortions } from '../../lib/portions.ts'
import type { PartToChild, TaskId } from './ipc.ts'

type Message = { readonly kind: string; readonly id?: TaskId }

/** Sends one message and calls when it is on its way; false where nobody is there to receive it. */
type Post = (message: Message | PartToChild, onSent: () => void) => boolean

/**
 * Sends large requests in parts: to serialize one at a stroke would hold up everything else in this process for as long
 * as that takes. What is said of such a request meanwhile follows behind it.
 */
export class PartSender {
  readonly #post: Post
  readonly #following = new Map<TaskId, Message[]>()

  constructor(post: Post) {
    this.#post = post
  }

  send(message: Message & { readonly id: TaskId }): void {
    const { id } = message
    const following: Message[] = []
    this.#following.set(id, following)
    const portions = toPortions(message)
    const sendNext = (): void => {
      // The child is another one, which is told of no request of the last.
      if (this.#following.get(id) !== following) return
      const { value: portion, done = false } = portions.next()
      if (!done && portion !== undefined) {
        const isSent = this.#post({ kind: 'part', id, portion }, () => setImmediate(sendNext))
        if (!isSent) this.#following.delete(id)
        return
      }
      this.#following.delete(id)
      this.#post({ kind: 'end-of-parts', id }, () => {})
      for (const next of following) this.#post(next, () => {})
    }
    sendNext()
  }

  /** Whether a message has to wait until its request is sent; it is sent then. */
  holdBack(message: Message): boolean {
    const following = message.id === undefined ? undefined : this.#following.get(message.id)
    following?.push(message)
    return following !== undefined
  }

  /** The child is gone, and all that was on its way to it. */
  clear(): void {
    this.#following.clear()
  }
}
