// Reads the part of GBNF that the compiler writes, to derive texts from a grammar
// and to look at its shape. Independent of the compiler, and stricter than the
// native parser: an undefined rule or an empty alternative is an error, and so is what other engines' readers of the notation
// take otherwise: an escape by number before a digit, one of four digits, a name that begins with a digit or has capitals,
// a hyphen in the midst of a class, what is an operator between classes to some.

export type Term =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly ranges: readonly (readonly [number, number])[]; readonly isNegated: boolean }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'group'; readonly alternatives: readonly Sequence[] }
  | { readonly kind: 'repeat'; readonly term: Term; readonly min: number; readonly max: number }
export type Sequence = readonly Term[]
export type Grammar = ReadonlyMap<string, readonly Sequence[]>

export function parseGbnf(source: string): Grammar {
  const grammar = new Map<string, readonly Sequence[]>()
  for (const line of source.split('\n')) {
    if (line === '') continue
    const match = /^([a-z][a-z0-9-]*) ::= (.+)$/s.exec(line)
    if (match === null) throw new Error(`Not a rule: ${line.slice(0, 200)}`)
    const [, name = '', body = ''] = match
    if (grammar.has(name)) throw new Error(`Rule ${name} is defined twice.`)
    grammar.set(name, createReader(body).readAll())
  }
  for (const name of grammar.keys()) for (const used of usedRules(grammar, name)) check(grammar, used)
  return grammar
}

function check(grammar: Grammar, name: string): void {
  if (!grammar.has(name)) throw new Error(`Rule ${name} is not defined.`)
}

function usedRules(grammar: Grammar, name: string): string[] {
  const inTerm = (term: Term): string[] => {
    if (term.kind === 'rule') return [term.name]
    if (term.kind === 'repeat') return inTerm(term.term)
    return term.kind === 'group' ? term.alternatives.flatMap((sequence) => sequence.flatMap(inTerm)) : []
  }
  return (grammar.get(name) ?? []).flatMap((sequence) => sequence.flatMap(inTerm))
}

const escapes: ReadonlyMap<string, number> = new Map([
  ['"', 0x22],
  ['\\', 0x5c],
  ['[', 0x5b],
  [']', 0x5d],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
])

function createReader(body: string) {
  let at = 0

  function readAll(): readonly Sequence[] {
    const alternatives = readAlternatives()
    if (at < body.length) throw new Error(`Unexpected "${body.slice(at, at + 40)}" in ${body.slice(0, 200)}`)
    return alternatives
  }

  function readAlternatives(): Sequence[] {
    const alternatives = [readSequence()]
    while (take('|')) alternatives.push(readSequence())
    if (alternatives.some((sequence) => sequence.length === 0)) throw new Error(`Empty alternative in ${body}`)
    return alternatives
  }

  function take(text: string): boolean {
    while (body[at] === ' ') at += 1
    const found = body.startsWith(text, at)
    if (found) at += text.length
    return found
  }

  function readSequence(): Sequence {
    const terms: Term[] = []
    for (let term = readTerm(); term !== null; term = readTerm()) terms.push(quantify(term))
    return terms
  }

  function quantify(term: Term): Term {
    const match = /(?:\*|\+|\?|\{([0-9]+)(,?)([0-9]*)\})/y
    match.lastIndex = at
    const found = match.exec(body)
    if (found === null) return term
    at += found[0].length
    const [symbol, min = '', comma = '', max = ''] = found
    if (symbol === '*') return { kind: 'repeat', term, min: 0, max: Infinity }
    if (symbol === '+') return { kind: 'repeat', term, min: 1, max: Infinity }
    if (symbol === '?') return { kind: 'repeat', term, min: 0, max: 1 }
    if (max === '0' || (comma === '' && min === '0')) throw new Error(`Never repeated: ${body.slice(0, 200)}`)
    const last = comma === '' ? Number(min) : max === '' ? Infinity : Number(max)
    return { kind: 'repeat', term, min: Number(min), max: last }
  }

  function readTerm(): Term | null {
    if (take('"')) return readText()
    if (take('[')) return readClass()
    if (take('(')) {
      const alternatives = readAlternatives()
      if (!take(')')) throw new Error(`Unclosed group in ${body}`)
      return { kind: 'group', alternatives }
    }
    const name = /[a-zA-Z0-9-]+/y
    name.lastIndex = at
    const found = name.exec(body)
    if (found === null) return null
    at += found[0].length
    return { kind: 'rule', name: found[0] }
  }

  function readText(): Term {
    let text = ''
    while (body[at] !== '"') text += String.fromCodePoint(readPoint())
    at += 1
    return { kind: 'text', text }
  }

  function readClass(): Term {
    const isNegated = body[at] === '^'
    if (isNegated) at += 1
    const ranges: [number, number][] = []
    const start = at
    while (body[at] !== ']') {
      if (body[at] === '-' && at > start && body[at + 1] !== ']') throw new Error(`A hyphen within a class in ${body}`)
      if (/^(?:&&|~~)/.test(body.slice(at, at + 2))) throw new Error(`An operator on classes in ${body}`)
      const first = readPoint()
      const isRange = body[at] === '-' && body[at + 1] !== ']'
      if (isRange) at += 1
      ranges.push([first, isRange ? readPoint() : first])
    }
    at += 1
    return { kind: 'class', ranges, isNegated }
  }

  function readPoint(): number {
    const point = body.codePointAt(at)
    if (point === undefined) throw new Error(`Ends too early: ${body.slice(0, 200)}`)
    const character = String.fromCodePoint(point)
    at += character.length
    if (point >= 0xd800 && point <= 0xdfff) throw new Error(`A surrogate in ${body.slice(0, 200)}`)
    if (character !== '\\') return point
    const escaped = body[at] ?? ''
    at += 1
    if (escaped !== 'x') {
      const code = escapes.get(escaped)
      if (code === undefined) throw new Error(`An escape that not all know in ${body.slice(0, 200)}`)
      return code
    }
    const digits = body.slice(at, at + 2)
    at += 2
    if (!/^[0-9A-F]{2}$/.test(digits) || /^[0-9a-fA-F]/.test(body.slice(at, at + 1)))
      throw new Error(`An escape whose end is not clear in ${body.slice(0, 200)}`)
    return Number.parseInt(digits, 16)
  }

  return { readAll }
}
