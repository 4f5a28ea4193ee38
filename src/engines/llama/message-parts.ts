// Large messages to a child go in parts, so that neither process is held up by one of them.

import { toPortions, Assembly } from '../../lib/portions.ts'
import type { PartToChild, TaskId } from './ipc.ts'

type Message = { readonly kind: string; readonly id?: TaskId }

/** Sends one message and calls when it is on its way; false where nobody is there to receive it. */
type Post = (message: Message | PartToChild, onSent: () => void) => boolean

/**
 * Sends large requests in parts, because to serialize one at a stroke would hold up everything else in this process.
 * Messages about such a request wait until all of its parts are sent.
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

  /** Keeps a message back until its request is sent, and sends it then. Returns whether it had to. */
  holdBack(message: Message): boolean {
    const following = message.id === undefined ? undefined : this.#following.get(message.id)
    following?.push(message)
    return following !== undefined
  }

  /** Forgets all that was on its way to a child that is gone. */
  clear(): void {
    this.#following.clear()
  }
}

/** Puts messages together that come in parts. */
export class PartReceiver {
  readonly #assemblies = new Map<TaskId, Assembly>()

  /** A message as it was before it was sent, at a stroke or in parts; null while not everything has come. */
  take<Whole extends Message>(message: Whole | PartToChild): Whole | null {
    if (!isPart(message)) return message
    const { id } = message
    const assembly = this.#assemblies.get(id) ?? new Assembly()
    if (message.kind === 'part') {
      this.#assemblies.set(id, assembly)
      assembly.add(message.portion)
      return null
    }
    this.#assemblies.delete(id)
    return assembly.value as Whole
  }
}

function isPart(message: Message | PartToChild): message is PartToChild {
  return message.kind === 'part' || message.kind === 'end-of-parts'
}
