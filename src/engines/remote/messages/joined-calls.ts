import { malformed } from '../dialect.ts'
import type { MessageStep } from './message-dialect.ts'

type CallStep = Extract<MessageStep, { kind: 'call' }>

/** Joins the pieces in which calls come. */
export class JoinedCalls {
  readonly #calls = new Map<number, { readonly name: string; arguments: string }>()

  get all(): readonly { readonly name: string; readonly arguments: string }[] {
    return [...this.#calls.values()]
  }

  take({ number, name, arguments: text }: CallStep): void {
    const known = this.#calls.get(number)
    if (known === undefined) {
      if (name === null) throw malformed('It began a call without a name.')
      this.#calls.set(number, { name, arguments: text })
      return
    }
    if (name !== null && name !== known.name) throw malformed('It gave one call two names.')
    known.arguments += text
  }
}
