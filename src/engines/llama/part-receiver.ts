import { Assembly } from '../../lib/portions.ts'
import type { PartToChild, TaskId } from './ipc.ts'

type Message = { readonly kind: string }

/** Puts together what comes in parts. */
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
