import { ApiError, type ApiErrorCode } from '../../core/error.ts'
import { errorExplanations, type ErrorExample, type ErrorFault } from '../../protocols/error-catalogue.ts'
import type { OpenFormat } from '../../protocols/format.ts'
import type { EncodedError } from '../../protocols/protocol.ts'
import { encodeProblem, problemKinds } from '../api/problem.ts'

export const errorCataloguePath = '/api/v1/errors.json'

const whose = { caller: 'yours', operator: 'the operator’s', load: 'ours' } as const satisfies Record<
  ErrorFault,
  string
>

export type ErrorCatalogue = { readonly errors: readonly DocumentedError[] }
export type DocumentedError = {
  readonly code: string
  readonly title: string
  readonly means: string
  readonly whose: (typeof whose)[ErrorFault]
  readonly retry: 'no' | 'after a while'
  readonly todo: string
  /** By format, and as the management API tells it. */
  readonly shapes: readonly (Pick<EncodedError, 'status' | 'body' | 'headers'> & { readonly format: string })[]
}

const requestId = 'req_brPxwmjGdwhr0Xu2B6xb597A'

/** Lists every error with what it means, and how each wire format and the management API tell it. */
export function describeErrors(formats: readonly OpenFormat[]): ErrorCatalogue {
  const errors = Object.entries(errorExplanations).map(([code, { meaning, advice, fault, examples }]) => {
    const error = instanceOf(examples)
    const told = formats.map(({ name, protocol }) => ({ format: name, ...protocol.encodeError(error, requestId) }))
    const shapes = [...told, { format: 'management API', ...encodeProblem(error, requestId) }]
    const isFinal = shapes.every(({ headers }) => headers['x-should-retry'] === 'false')
    return {
      code,
      title: problemKinds[code as ApiErrorCode].title,
      means: toPlainText(meaning),
      whose: whose[fault],
      retry: isFinal ? 'no' : 'after a while',
      todo: toPlainText(advice),
      shapes,
    } as const
  })
  return { errors }
}

/** Each format words a wrong field in its own way, so an example without one is the same in all of them. */
function instanceOf(examples: readonly ErrorExample[]): ApiError {
  const [first] = examples
  const shown = examples.find(({ reason }) => !('path' in reason) || reason.path === null) ?? first
  if (shown === undefined) throw new Error('An error has no example.')
  return new ApiError(shown.reason, shown.text)
}

/** The table is written for pages in Markdown. */
function toPlainText(text: string): string {
  return text.replaceAll('`', '')
}
