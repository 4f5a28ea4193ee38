/** One kind of load. */
export type Shape = {
  readonly perSecond: number
  readonly isStream: boolean
  readonly promptBytes: number
  readonly tokens: number
}

export type ShapeOptions = {
  readonly rates: readonly number[]
  readonly promptBytes: readonly number[]
  readonly tokens: number
  /** Streams alone; whole answers as well unless given. */
  readonly streamsOnly?: boolean
}

/** How many times as long the answers are by which the cost of an event is found. */
const longerBy = 4

/** Every rate with every length of prompt, streamed and not. */
export function listShapes({ rates, promptBytes, tokens, streamsOnly = false }: ShapeOptions): Shape[] {
  return rates.flatMap((perSecond) =>
    (streamsOnly ? [true] : [true, false]).flatMap((isStream) =>
      promptBytes.map((bytes) => ({ perSecond, isStream, promptBytes: bytes, tokens })),
    ),
  )
}

/** The same load with short answers and with long ones: what they differ by is the cost of their events. */
export function eventShapes({ rates, promptBytes, tokens }: ShapeOptions): readonly [short: Shape, long: Shape] {
  const ratesByDistance = rates.toSorted((one, other) => Math.abs(one - 200) - Math.abs(other - 200))
  const common = { perSecond: ratesByDistance[0] ?? 200, isStream: true, promptBytes: promptBytes[0] ?? 200 }
  return [
    { ...common, tokens },
    { ...common, tokens: tokens * longerBy },
  ]
}

export function isSame(one: Shape, other: Shape): boolean {
  return (['perSecond', 'isStream', 'promptBytes', 'tokens'] as const).every((field) => one[field] === other[field])
}
