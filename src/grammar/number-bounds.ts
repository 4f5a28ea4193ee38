import { impossible, keyword, numbers, type Part } from './schema/schema-part.ts'

export type Bound = { readonly value: number; readonly isExclusive: boolean }
export type Bounds = { readonly low: Bound | null; readonly high: Bound | null }

export function numberBounds(parts: readonly Part[]): Bounds {
  const isSmall = integerFormatsOf(parts).includes('int32')
  const [lowest, highest] = isSmall ? [[inclusive(-(2 ** 31))], [inclusive(2 ** 31 - 1)]] : [[], []]
  const low = strictest([...limits(parts, 'minimum', 'exclusiveMinimum'), ...lowest], (left, right) => left > right)
  const high = strictest([...limits(parts, 'maximum', 'exclusiveMaximum'), ...highest], (left, right) => left < right)
  if (low !== null && high !== null) {
    const isPoint = low.value === high.value && !low.isExclusive && !high.isExclusive
    if (low.value >= high.value && !isPoint) throw impossible(parts)
  }
  return { low, high }
}

function inclusive(value: number): Bound {
  return { value, isExclusive: false }
}

/** The formats that make a number a whole one. More digits than the longer has are not generated anyway. */
export function integerFormatsOf(parts: readonly Part[]): readonly string[] {
  const formats = parts.map(({ schema }) => keyword(schema, 'format'))
  return formats.filter((format) => format === 'int32' || format === 'int64')
}

function limits(parts: readonly Part[], inclusive: string, exclusive: string): Bound[] {
  return parts.flatMap((part) => {
    const flag = keyword(part.schema, exclusive)
    // Draft 4 wrote `exclusiveMinimum: true` beside the bound.
    const bounds = numbers([part], inclusive).map((value) => ({ value, isExclusive: flag === true }))
    if (typeof flag === 'boolean') return bounds
    return [...bounds, ...numbers([part], exclusive).map((value) => ({ value, isExclusive: true }))]
  })
}

function strictest(bounds: readonly Bound[], isStricter: (left: number, right: number) => boolean): Bound | null {
  let best: Bound | null = null
  for (const bound of bounds) {
    const isSame = best !== null && bound.value === best.value
    if (best === null || isStricter(bound.value, best.value) || (isSame && bound.isExclusive)) best = bound
  }
  return best
}
