import type { GrammarBuilder } from '../../src/chat-format/tool-format/grammar-parts.ts'

/** A builder for tests: what it collects has no recursion, so it can be tried as a regular expression. */
export function createRegexGrammar() {
  const rules = new Map<string, string>()
  const builder: GrammarBuilder = {
    rule(hint, body) {
      const name = `${hint}-${rules.size}x`
      rules.set(name, body)
      return name
    },
  }
  const expand = (body: string): string =>
    body
      .split(quotedOrClass)
      .map((part) => {
        if (part.startsWith('"')) return part === '""' ? '' : `(?:${literalRegex(part.slice(1, -1))})`
        if (part.startsWith('[')) return part.replace(/\\x([\dA-F]{2})/gu, '\\u{$1}')
        return part.replace(/\s+/gu, '').replace(/\(/gu, '(?:')
      })
      .join('')
  // Names are kept apart by white space, so they are put in place before it is dropped.
  const resolve = (body: string): string =>
    body
      .split(quotedOrClass)
      .map((part) =>
        /^["[]/u.test(part)
          ? part
          : part.replace(/[a-z][a-z-]*-\d+x/gu, (name) => `(${resolve(rules.get(name) ?? '')})`),
      )
      .join('')
  return { builder, toRegex: (root: string) => new RegExp(`^(?:${expand(resolve(root))})$`, 'u') }
}

const quotedOrClass = /("(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\])/u

/** Each character of a literal by its number. */
function literalRegex(text: string): string {
  return text.replace(/\\x([\dA-F]{2})|\\([nrt])|\\?([^])/gu, (_, hex?: string, letter?: string, character = '') => {
    const meant = letter === undefined ? String(character) : (escapes[letter] ?? letter)
    return `\\u{${hex ?? meant.codePointAt(0)?.toString(16)}}`
  })
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
