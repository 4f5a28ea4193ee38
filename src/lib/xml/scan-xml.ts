// Reads the small part of XML in which messages and descriptions are written, and refuses all the rest: whatever is
// refused here can neither be read in two ways nor be made to grow.

export type XmlAttribute = { readonly namespace: string; readonly name: string; readonly value: string }
export type XmlElement = {
  readonly namespace: string
  readonly name: string
  readonly attributes: readonly XmlAttribute[]
  /** Elements and texts, in their order; two texts never follow each other. */
  readonly children: readonly (XmlElement | string)[]
}

export type XmlBounds = {
  readonly lengthMax: number
  readonly elementsMax: number
  /** Comments say nothing, and split texts in two for many readers. */
  readonly allowsComments?: boolean
}

/** What is no XML of the kind that is read here, with the place at which that shows. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault'
}

const attributesMax = 64
const depthMax = 40
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace'
const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/'
const namedCharacters: ReadonlyMap<string, string> = new Map([
  ['amp;', '&'],
  ['lt;', '<'],
  ['gt;', '>'],
  ['quot;', '"'],
  ['apos;', "'"],
])
/** Controls but for tab and the ends of lines; those above ASCII may stand in XML. */
const forbidden = /[^\P{Cc}\t\n\r\x7f-\x9f]|[\ufffe\uffff]/u

/** Throws for bytes that are no UTF-8 text, or do not begin with an element or a declaration. */
export function decodeXml(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new XmlFault('The bytes are no text in UTF-8.', { cause })
  }
}

/** The one element of a document. Throws for a document type, instructions, CDATA and all that is not well-formed. */
export function scanXml(text: string, bounds: XmlBounds): XmlElement {
  return new Scanner(text, bounds).document()
}

type Scope = ReadonlyMap<string, string>
type RawAttribute = { readonly prefix: string; readonly name: string; readonly value: string }

const word = '[A-Za-z_][A-Za-z0-9._-]*'
const declaration =
  /<\?xml\s+version\s*=\s*(?:"1\.0"|'1\.0')(?:\s+encoding\s*=\s*(?:"utf-8"|'utf-8'))?(?:\s+standalone\s*=\s*(?:"(?:yes|no)"|'(?:yes|no)'))?\s*\?>/iy
const space = /[ \t\r\n]*/y
const opening = new RegExp(`<(?:(${word}):)?(${word})`, 'y')
const attribute = new RegExp(
  `[ \\t\\r\\n]+(?:(${word}):)?(${word})[ \\t\\r\\n]*=[ \\t\\r\\n]*(?:"([^"<]*)"|'([^'<]*)')`,
  'y',
)
const openingEnd = /[ \t\r\n]*(\/?)>/y
const closing = new RegExp(`</(?:(${word}):)?(${word})[ \\t\\r\\n]*>`, 'y')
const characters = /[^<]+/y
const comment = /<!--(?:[^-]|-[^-])*-->/y

class Scanner {
  readonly #text: string
  readonly #bounds: XmlBounds
  #at = 0
  #elements = 0

  constructor(text: string, bounds: XmlBounds) {
    this.#text = text
    this.#bounds = bounds
  }

  document(): XmlElement {
    if (this.#text.length > this.#bounds.lengthMax) throw new XmlFault('The document is too long.')
    if (forbidden.test(this.#text) || !this.#text.isWellFormed()) {
      throw new XmlFault('The document has a character that XML does not know.')
    }
    this.#match(declaration)
    this.#skipBetween()
    const root = this.#element(new Map([['xml', xmlNamespace]]), 1)
    this.#skipBetween()
    if (this.#at < this.#text.length) throw this.#fault('Something follows the end of the document')
    return root
  }

  #skipBetween(): void {
    do this.#match(space)
    while (this.#comment())
  }

  #comment(): boolean {
    return this.#bounds.allowsComments === true && this.#match(comment) !== null
  }

  #element(outer: Scope, depth: number): XmlElement {
    const [, prefix = '', name = ''] = this.#match(opening) ?? this.#refuse('There is no element')
    this.#elements += 1
    if (this.#elements > this.#bounds.elementsMax || depth > depthMax) {
      throw this.#fault('There are too many elements, or too many in each other')
    }
    const raw = this.#attributes()
    const [, isEmpty] = this.#match(openingEnd) ?? this.#refuse('An element does not end')
    const scope = this.#scope(outer, raw)
    const element = { namespace: this.#namespaceOf(scope, prefix), name, attributes: this.#resolve(scope, raw) }
    if (isEmpty === '/') return { ...element, children: [] }
    const children = this.#children(scope, depth)
    const [, endPrefix = '', endName] = this.#match(closing) ?? this.#refuse('An element is not closed')
    if (endPrefix !== prefix || endName !== name) throw this.#fault('An element is closed by the name of another')
    return { ...element, children }
  }

  #children(scope: Scope, depth: number): (XmlElement | string)[] {
    const children: (XmlElement | string)[] = []
    let text = ''
    for (;;) {
      const found = this.#match(characters)?.[0]
      if (found !== undefined) text += this.#decode(found, false)
      else if (this.#text.startsWith('</', this.#at)) break
      else if (!this.#comment()) {
        if (text !== '') children.push(text)
        text = ''
        children.push(this.#element(scope, depth + 1))
      }
    }
    return text === '' ? children : [...children, text]
  }

  #attributes(): readonly RawAttribute[] {
    const found: RawAttribute[] = []
    for (let match = this.#match(attribute); match !== null; match = this.#match(attribute)) {
      const [, prefix = '', name = '', double, single] = match
      found.push({ prefix, name, value: this.#decode(double ?? single ?? '', true) })
      if (found.length > attributesMax) throw this.#fault('An element has too many attributes')
    }
    return found
  }

  #scope(outer: Scope, attributes: readonly RawAttribute[]): Scope {
    const inner = new Map(outer)
    const declared = new Set<string>()
    for (const { prefix, name, value } of attributes) {
      const isDeclaration = prefix === 'xmlns' || (prefix === '' && name === 'xmlns')
      // Some programs take every name that begins so for a declaration, and leave it out of what is signed.
      if (!isDeclaration && /^xml/i.test(prefix === '' ? name : '')) throw this.#fault('A name begins with xml')
      if (!isDeclaration) continue
      const own = prefix === '' ? '' : name
      const isReserved = /^xml/i.test(own) || value === xmlNamespace || value === xmlnsNamespace
      if (isReserved || declared.has(own) || (own !== '' && value === '')) {
        throw this.#fault('A namespace is declared in a way that is not taken')
      }
      declared.add(own)
      inner.set(own, value)
    }
    return inner
  }

  #resolve(scope: Scope, attributes: readonly RawAttribute[]): readonly XmlAttribute[] {
    const plain = attributes.filter(({ prefix, name }) => prefix !== 'xmlns' && (prefix !== '' || name !== 'xmlns'))
    const resolved = plain.map(({ prefix, name, value }) => {
      return { namespace: prefix === '' ? '' : this.#namespaceOf(scope, prefix), name, value }
    })
    const names = new Set(resolved.map(({ namespace, name }) => `${namespace} ${name}`))
    if (names.size < resolved.length) throw this.#fault('An attribute is there twice')
    return resolved
  }

  #namespaceOf(scope: Scope, prefix: string): string {
    const found = scope.get(prefix)
    if (found === undefined && prefix !== '') throw this.#fault('A prefix has no namespace')
    return found ?? ''
  }

  /** A text as it is meant, with the ends of lines and, in attributes, the white space that XML makes of them. */
  #decode(raw: string, isAttribute: boolean): string {
    if (!isAttribute && raw.includes(']]>')) throw this.#fault('A text has the end of a section in it')
    const lines = raw.replaceAll(/\r\n?/g, '\n')
    const spaced = isAttribute ? lines.replaceAll(/[\n\t]/g, ' ') : lines
    if (!spaced.includes('&')) return spaced
    return spaced.replaceAll(/&([^;&]{0,8};?)/g, (_all, reference: string) => this.#character(reference))
  }

  #character(reference: string): string {
    const named = namedCharacters.get(reference)
    if (named !== undefined) return named
    const [, hexadecimal, decimal] = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));$/.exec(reference) ?? []
    const code = hexadecimal === undefined ? Number(decimal ?? Number.NaN) : Number.parseInt(hexadecimal, 16)
    const isOne = code === 9 || code === 10 || code === 13 || (code >= 32 && code <= 0x10_ffff)
    const character = isOne ? String.fromCodePoint(code) : '\0'
    if (forbidden.test(character) || !character.isWellFormed()) throw this.#fault('A reference means no character')
    return character
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match
  }

  #refuse(message: string): never {
    throw this.#fault(message)
  }

  #fault(message: string): XmlFault {
    return new XmlFault(`${message}, at character ${this.#at + 1}.`)
  }
}
