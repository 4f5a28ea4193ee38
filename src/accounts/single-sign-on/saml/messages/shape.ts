// What an element may have in it, said by whoever reads it: everything else is refused, so that nothing is carried along
// that another reader would take for something.

import type { XmlElement } from '../../../../lib/xml/scan-xml.ts'
import { SsoFault } from '../../fault.ts'

export function isNamed(element: XmlElement, namespace: string, name: string): boolean {
  return element.namespace === namespace && element.name === name
}

/** The attributes of an element, of which it has no others than these. */
export function readAttributes<Name extends string>(
  { attributes, name: element }: XmlElement,
  names: readonly Name[],
): Readonly<Partial<Record<Name, string>>> {
  const found: Partial<Record<string, string>> = Object.create(null) as Record<string, string>
  for (const { namespace, name, value } of attributes) {
    const isKnown = namespace === '' && (names as readonly string[]).includes(name)
    if (!isKnown) throw shapeFault(`${element} has an attribute ${name}`)
    found[name] = value
  }
  return found as Partial<Record<Name, string>>
}

/** The text of an element that has nothing else in it. */
export function readText({ children, name }: XmlElement): string {
  const [text = '', ...others] = children
  if (typeof text !== 'string' || others.length > 0) throw shapeFault(`${name} has elements in it`)
  return text
}

/** The elements in an element, which are taken one after the other in the order they have to come in. */
export class Sequence {
  readonly #parent: string
  readonly #elements: readonly XmlElement[]
  #at = 0

  constructor({ name, children }: XmlElement) {
    this.#parent = name
    const texts = children.filter((child) => typeof child === 'string')
    if (texts.some((text) => text.trim() !== '')) throw shapeFault(`${name} has text in it`)
    this.#elements = children.filter((child) => typeof child !== 'string')
  }

  /** The next element if it is this one. */
  take(namespace: string, name: string): XmlElement | null {
    const next = this.#elements[this.#at]
    if (next === undefined || !isNamed(next, namespace, name)) return null
    this.#at += 1
    return next
  }

  takeAll(namespace: string, name: string): readonly XmlElement[] {
    const all: XmlElement[] = []
    for (let next = this.take(namespace, name); next !== null; next = this.take(namespace, name)) all.push(next)
    return all
  }

  need(namespace: string, name: string): XmlElement {
    const next = this.take(namespace, name)
    if (next === null) throw shapeFault(`${this.#parent} has no ${name} where it belongs`)
    return next
  }

  end(): void {
    const next = this.#elements[this.#at]
    if (next !== undefined) throw shapeFault(`${this.#parent} has ${next.name} in it, which is not taken there`)
  }
}

export function shapeFault(message: string): SsoFault {
  return new SsoFault('saml-shape', { cause: new Error(`${message}.`) })
}
