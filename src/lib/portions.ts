// Takes a large value apart into portions, each of which costs little to clone, and puts it together again.
//
// Cloning a value between threads or processes holds up whoever receives it for as long as the whole of it takes. In
// portions, others have their turn in between.

/** Puts one thing into a container, which came before it. */
type Step =
  | { readonly into: number; readonly key: string | number; readonly value: unknown }
  /** A container whose content follows. */
  | { readonly into: number; readonly key: string | number; readonly opens: number; readonly isArray: boolean }
  /** A text whose pieces follow, or one of these. */
  | { readonly into: number; readonly key: string | number; readonly piece: string }

export type Portion = readonly Step[]

/** Some milliseconds at the most: a value costs up to a microsecond, a character a nanosecond. */
const nodesMax = 1_000
const charactersMax = 512 * 1_024

type Container = Record<string | number, unknown>

/** Values are what JSON and typed arrays can be; undefined stays undefined. */
export function* toPortions(value: unknown): Generator<Portion> {
  let portion: Step[] = []
  let cost = 0
  let lastContainer = 0
  for (const [step, stepCost] of steps(value, { into: 0, key: 'value' }, () => (lastContainer += 1))) {
    if (portion.length > 0 && cost + stepCost > nodesMax) {
      yield portion
      portion = []
      cost = 0
    }
    portion.push(step)
    cost += stepCost
  }
  yield portion
}

type Position = { readonly into: number; readonly key: string | number }

function* steps(value: unknown, position: Position, nextContainer: () => number): Generator<readonly [Step, number]> {
  const cost = costOf(value, nodesMax)
  if (cost < nodesMax || ArrayBuffer.isView(value)) return yield [{ ...position, value }, Math.min(cost, nodesMax)]
  if (typeof value === 'string') {
    for (let from = 0; from < value.length; from += charactersMax) {
      yield [{ ...position, piece: value.slice(from, from + charactersMax) }, nodesMax]
    }
    return
  }
  const opens = nextContainer()
  yield [{ ...position, opens, isArray: Array.isArray(value) }, 1]
  if (Array.isArray(value)) {
    for (const [key, item] of value.entries()) yield* steps(item, { into: opens, key }, nextContainer)
  } else {
    for (const [key, member] of Object.entries(value as Container)) {
      yield* steps(member, { into: opens, key }, nextContainer)
    }
  }
}

/** Estimates what a value costs; it is not looked at any further than to `most`. */
function costOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + Math.floor((value.length * nodesMax) / charactersMax)
  if (ArrayBuffer.isView(value)) return 1 + Math.floor((value.byteLength * nodesMax) / charactersMax)
  if (typeof value !== 'object' || value === null) return 1
  let cost = 1
  if (Array.isArray(value)) {
    for (const item of value) {
      cost += costOf(item, most - cost)
      if (cost >= most) break
    }
    return cost
  }
  for (const key in value) {
    cost += costOf((value as Container)[key], most - cost)
    if (cost >= most) break
  }
  return cost
}

/** Puts portions together, in the order in which they were made. */
export class Assembly {
  readonly #root: Container = {}
  readonly #containers = new Map<number, Container>([[0, this.#root]])

  add(portion: Portion): void {
    for (const step of portion) {
      const container = this.#containers.get(step.into)
      if (container === undefined) throw new Error('A portion is missing.')
      if ('piece' in step) put(container, step.key, textAt(container, step.key) + step.piece)
      else if ('opens' in step) {
        const opened = (step.isArray ? [] : {}) as Container
        this.#containers.set(step.opens, opened)
        put(container, step.key, opened)
      } else put(container, step.key, step.value)
    }
  }

  get value(): unknown {
    return this.#root['value']
  }
}

function textAt(container: Container, key: string | number): string {
  return Object.hasOwn(container, key) ? String(container[key]) : ''
}

function put(container: Container, key: string | number, value: unknown): void {
  if (key !== '__proto__') {
    container[key] = value
    return
  }
  // Defined and not assigned: such a key must stay a key.
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true })
}
