import type { HTTPMethods } from 'fastify'

type KnownPath = {
  readonly path: string
  readonly segments: readonly string[]
  readonly methods: readonly HTTPMethods[]
}

/**
 * Which methods the paths of an API have: what a request is told whose method is none of them.
 *
 * `{name}` in a path stands for any text without a slash, `{tile}` at its end for any text at all. A router with a route
 * for each method of each path that is refused would take most of its time and memory for those.
 */
export class PathMethods {
  readonly #paths: readonly KnownPath[]

  constructor(methodsOf: ReadonlyMap<string, readonly HTTPMethods[]>) {
    this.#paths = Array.from(methodsOf, ([path, methods]) => ({ path, segments: path.split('/'), methods }))
  }

  /** The methods of the path that an address means, without its query; null where it is none. */
  find(address: string): readonly HTTPMethods[] | null {
    const asked = address.split('/')
    const found = this.#paths.filter(({ segments }) => isAt(segments, asked))
    // Who asks for `/keys/export` means that path rather than a key of that name.
    const nearest = found.toSorted((one, other) => countNames(one) - countNames(other))[0]
    return nearest?.methods ?? null
  }

  /** Whether another path has a name where this one has a word, so that its methods would take the word for a name. */
  isShadowed(path: string): boolean {
    const own = path.split('/')
    return this.#paths.some(
      ({ path: other, segments }) =>
        other !== path &&
        segments.length === own.length &&
        segments.every((segment, index) => segment === own[index] || isName(segment)),
    )
  }
}

const isName = (segment: string) => segment.startsWith('{')
const countNames = ({ segments }: KnownPath) => segments.filter(isName).length

function isAt(segments: readonly string[], asked: readonly string[]): boolean {
  const isOpen = segments.at(-1) === '{tile}'
  if (isOpen ? asked.length < segments.length : asked.length !== segments.length) return false
  return segments.every((segment, index) => segment === asked[index] || (isName(segment) && asked[index] !== ''))
}
