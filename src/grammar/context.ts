import type { GrammarBuilder } from './grammar-builder.ts'
import type { SchemaPath } from './schema-fault.ts'
import type { Nfa } from './patterns/nfa.ts'
import type { Part, SchemaObject } from './schema/schema-part.ts'

/** Something a schema says that the grammar does not enforce. */
export type Relaxation = { readonly path: SchemaPath; readonly keyword: string }

/** The text of a rule, and what every text it matches consists of at least. */
export type Body = {
  readonly text: string
  /** The fewest characters it adds of its own. */
  readonly own: number
  /** Values that are a part of it, and how many times at least: it ends only if they do. */
  readonly needs: readonly Need[]
}

export type Need = { readonly value: string; readonly times: number }

export type Relax = (part: Part, keyword: string, message: string) => void

/** What one part says about the properties of an object. */
export type ObjectPart = {
  readonly part: Part
  readonly declared: ReadonlyMap<string, Part>
  readonly patterns: readonly { readonly nfas: readonly Nfa[]; readonly part: Part }[]
  /** The schema of every property that neither of these describes; null where any goes. */
  readonly others: Part | null
  /** Something that was left out may describe more properties. */
  readonly hidesMore: boolean
}

/** What the compilation of one schema shares. */
export type Context = {
  readonly builder: GrammarBuilder
  /** The name of the rule for a value that satisfies every part; its body may come later. */
  readonly value: (parts: readonly Part[], hint: string) => string
  /** `$ref` and `allOf` followed. */
  readonly flatten: (parts: readonly Part[]) => Part[]
  /** Whether no value is known to satisfy parts that are flat, by what they say or by what became of their rule. */
  readonly isImpossible: (parts: readonly Part[]) => boolean
  /** What was read of schemas already: a choice reads its branches again for each comparison. */
  readonly objectParts: Map<Part['schema'], ObjectPart>
  /** What listed values came to: a long list is referred to from many places. */
  readonly listedBodies: Map<Part['schema'], Body>
  /** The NFAs of patterns that were read already: a schema gives the same one in many places. */
  readonly patterns: Map<string, readonly Nfa[]>
  /** The rules of names that were made already, by what they keep to; null for names that none can be made for. */
  readonly nameRules: Map<string, string | null>
  /** The schemas that leave a property out, by its name: one object for each, since a schema is told by its object. */
  readonly omissions: Map<string, SchemaObject>
  /** Counts work that a small schema can ask for much of, and throws when it is too much. */
  readonly spend: (amount: number) => void
  /** Rules that something was left out of must not be shared with a schema that is kept in full. */
  readonly isLenient: boolean
  /** Leaves a keyword unenforced where the caller allows it, and throws where not. */
  readonly relax: Relax
}
