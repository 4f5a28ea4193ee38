import type { FaultCode } from '../../../src/accounts/single-sign-on/fault.ts'
import type { Person, Question, SamlLie, SamlProvider, Shape } from './saml-provider.ts'
import { find, remove, type XmlTree } from './xml-tree.ts'

export type Forging = {
  readonly provider: SamlProvider
  readonly question: Question
  readonly person: Person
}

/** One difference from an answer that signs somebody in. */
export type Forgery = {
  readonly name: string
  readonly code: FaultCode
  readonly lie: (forging: Forging) => SamlLie
  /** What of an answer is signed; the forgery is made of each. */
  readonly shapes?: readonly Shape[]
  /** Changes the form in which the answer is brought. */
  readonly form?: (form: URLSearchParams) => void
}

export const inAssertion = (
  name: string,
  code: FaultCode,
  change: (assertion: XmlTree, forging: Forging) => void,
): Forgery => ({
  name,
  code,
  lie: (forging) => ({ assertion: (assertion) => change(assertion, forging) }),
})

/** Changes what stands around the assertion before anything is signed. */
export const inResponse = (
  name: string,
  code: FaultCode,
  change: (root: XmlTree, forging: Forging) => void,
): Forgery => ({
  name,
  code,
  lie: (forging) => ({ assertion: (_assertion, root) => change(root, forging) }),
})

export const withText = (name: string, code: FaultCode, text: (text: string) => string | Buffer): Forgery => ({
  name,
  code,
  lie: () => ({ text }),
})

/** The assertion that an attacker would like: of somebody else, and not signed. */
export function evilOf(assertion: XmlTree, id = '_evil'): XmlTree {
  const evil = structuredClone(assertion)
  if (evil.children.some((child) => typeof child !== 'string' && 'tag' in child && child.tag === 'ds:Signature')) {
    evil.children = evil.children.filter(
      (child) => typeof child === 'string' || !('tag' in child) || child.tag !== 'ds:Signature',
    )
  }
  evil.attributes['ID'] = id
  find(evil, 'NameID').children = ['the-owner']
  return evil
}

export function withoutSignature(tree: XmlTree): XmlTree {
  const plain = structuredClone(tree)
  remove(plain, 'Signature')
  return plain
}

export const set = (tree: XmlTree, name: string, value: string | null): void => {
  if (value === null) delete tree.attributes[name]
  else tree.attributes[name] = value
}
