import { location } from './location.ts'

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
/** What the fields that somebody has changed held before. */
type Originals = Map<Field, string>

const question = 'This page has fields that are not saved. Leave it all the same?'

/**
 * What somebody has typed into the forms of the page and not sent yet.
 *
 * It is read off the fields themselves, so no form has to say anything but that it is one: a field counts from the first
 * input on, for as long as it is there and holds something else than before that input. What the program fills in counts
 * for nothing.
 */
class UnsavedForms {
  readonly #before = new WeakMap<Field, string>()
  readonly #changed: Originals = new Map()
  /** What was changed in the forms that have been sent, until it is known whether they were refused. */
  #sent: Originals = new Map()

  constructor() {
    // Where the program draws anew what an input has changed, it is too late to see what was there.
    for (const sign of ['focusin', 'pointerdown'] as const) {
      document.addEventListener(sign, ({ target }) => this.#look(formOf(target)), { capture: true })
    }
    document.addEventListener('input', ({ target }) => this.#note(target), { capture: true })
    document.addEventListener('submit', ({ target }) => this.#send(target), { capture: true })
    window.addEventListener('beforeunload', (event) => {
      if (this.isAny()) event.preventDefault()
    })
    location.guardWith(() => this.mayLeave())
  }

  isAny(within: Node = document): boolean {
    for (const [field, original] of this.#changed) {
      if (!field.isConnected) this.#changed.delete(field)
      else if (within.contains(field) && valueOf(field) !== original) return true
    }
    return false
  }

  /** Asks where something would be lost; whoever goes all the same has given it up. */
  mayLeave(within: Node = document): boolean {
    if (!this.isAny(within)) return true
    // Nothing is drawn while the browser asks, so the page that is asked about stays as it is.
    const isGivenUp = window.confirm(question)
    if (isGivenUp) this.forget(within)
    return isGivenUp
  }

  /** What was sent is kept by the service now. */
  saved(): void {
    this.#sent = new Map()
  }

  /** What was sent was not taken, and is still to be lost. */
  refused(): void {
    for (const [field, original] of this.#sent) this.#changed.set(field, original)
    this.#sent = new Map()
  }

  forget(within: Node = document): void {
    for (const field of this.#changed.keys()) if (within.contains(field)) this.#changed.delete(field)
  }

  #look(form: HTMLFormElement | null): void {
    for (const field of form?.elements ?? []) {
      if (isField(field) && !this.#changed.has(field)) this.#before.set(field, valueOf(field))
    }
  }

  #note(target: EventTarget | null): void {
    if (!isField(target) || formOf(target) === null || this.#changed.has(target)) return
    this.#changed.set(target, this.#before.get(target) ?? '')
  }

  #send(target: EventTarget | null): void {
    for (const [field, original] of this.#changed) {
      if (field.form !== target) continue
      this.#changed.delete(field)
      this.#sent.set(field, original)
    }
  }
}

/** The form that a part of the page belongs to, unless it is one whose fields are worth nothing once it is left. */
function formOf(target: EventTarget | null): HTMLFormElement | null {
  return target instanceof Element ? target.closest<HTMLFormElement>('form[data-kept]') : null
}

function isField(target: unknown): target is Field {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement
  )
}

function valueOf(field: Field): string {
  return field instanceof HTMLInputElement && field.type === 'checkbox' ? String(field.checked) : field.value
}

export const unsavedForms = new UnsavedForms()
