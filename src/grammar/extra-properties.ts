import { nameRule } from './compile-string.ts'
import type { Context } from './context.ts'
import { colon } from './json-rules.ts'
import type { Nfa } from './patterns/nfa.ts'
import type { Names, ObjectPart } from './object-properties.ts'
import type { Part } from './schema/schema-part.ts'
import { isImpossible } from './schema/schema-types.ts'

export type Extras = {
  readonly objects: readonly ObjectPart[]
  readonly names: Names
  /** Names that have a place of their own in the object. */
  readonly known: ReadonlySet<string>
  readonly hint: string
}

/** A kind of property whose name is not known beforehand. */
type Extra = { readonly nfas: readonly Nfa[]; readonly value: readonly Part[] }

/**
 * The rule of one property beyond the known ones; null where none is generated.
 *
 * An object that declares properties gets no others unless the schema says
 * what they hold: leaving them out is always valid, and what tools expect.
 */
export function extraRule(context: Context, extras: Extras): string | null {
  const { objects, names, known, hint } = extras
  if (names.listed !== null) return null
  const kinds = [...patternedExtras(context, objects), ...otherExtras(context, extras)]
  const pairs = kinds.flatMap(({ nfas, value }) => {
    const constraint = { nfas: [...names.constraint.nfas, ...nfas], lengths: names.constraint.lengths }
    const name = nameRule(context, constraint, [...known])
    return name === null ? [] : [`${name} ${colon} ${context.value(value, hint)}`]
  })
  return pairs.length === 0 ? null : context.builder.rule(`${hint}-pair`, pairs.join(' | '))
}

/** Whether any property at all may follow, whatever its name and value. */
export function isUnrestricted(context: Context, { objects, names, known }: Extras): boolean {
  if (known.size > 0 || names.listed !== null || objects.some(({ patterns }) => patterns.length > 0)) return false
  const { nfas, lengths } = names.constraint
  const hasFreeNames = nfas.length === 0 && lengths.min === 0 && lengths.max === Infinity
  return hasFreeNames && context.flatten(othersOf(objects)).length === 0
}

/** Properties whose name matches just one pattern; of those that match several, none is generated. */
function patternedExtras(context: Context, objects: readonly ObjectPart[]): Extra[] {
  const all = objects.flatMap((object) => object.patterns.map((pattern) => ({ object, pattern })))
  return all.flatMap(({ object, pattern }) => {
    const others = all.filter((one) => one.pattern !== pattern).map((one) => negated(one.pattern.nfas))
    const value = context.flatten([pattern.part, ...othersOf(objects.filter((one) => one !== object))])
    if (isImpossible(value) || others.includes(null)) return []
    return [{ nfas: [...pattern.nfas, ...others.filter((nfa) => nfa !== null)], value }]
  })
}

function otherExtras(context: Context, { objects, known }: Extras): Extra[] {
  const patterns = objects.flatMap((object) => object.patterns)
  const value = context.flatten(othersOf(objects))
  const isFree = (known.size === 0 && patterns.length === 0) || objects.some(({ hidesMore }) => hidesMore)
  const isDescribed = value.length > 0 || isFree
  const excluded = patterns.map(({ nfas }) => negated(nfas))
  if (!isDescribed || isImpossible(value) || excluded.includes(null)) return []
  return [{ nfas: excluded.filter((nfa) => nfa !== null), value }]
}

function othersOf(objects: readonly ObjectPart[]): Part[] {
  return objects.flatMap(({ others }) => (others === null ? [] : [others]))
}

/** Null for a pattern of several machines, which has no single opposite. */
function negated(nfas: readonly Nfa[]): Nfa | null {
  const [nfa] = nfas
  return nfas.length === 1 && nfa !== undefined ? { ...nfa, isNegated: !nfa.isNegated } : null
}
