export type FieldFault = { readonly path: string; readonly message: string }

/** What the service says of a request that it refused (RFC 9457), or what stands for it where it does not answer. */
export class Problem extends Error {
  readonly kind: string
  readonly status: number
  readonly requestId: string | null
  readonly faults: readonly FieldFault[]
  readonly retryAfterSeconds: number | null

  constructor({ kind, status, detail, requestId = null, faults = [], retryAfterSeconds = null }: ProblemFields) {
    super(detail)
    this.kind = kind
    this.status = status
    this.requestId = requestId
    this.faults = faults
    this.retryAfterSeconds = retryAfterSeconds
  }

  /** Whether the same request may succeed a little later. */
  get isPassing(): boolean {
    return this.kind === 'offline' || this.status === 503 || this.status === 429
  }
}

type ProblemFields = {
  readonly kind: string
  readonly status: number
  readonly detail: string
  readonly requestId?: string | null
  readonly faults?: readonly FieldFault[]
  readonly retryAfterSeconds?: number | null
}

type Body = {
  readonly type?: string
  readonly detail?: string
  readonly instance?: string
  readonly errors?: readonly FieldFault[]
}

export async function readProblem(response: Response): Promise<Problem> {
  const body = (await response.json().catch(() => ({}))) as Body
  const retryAfter = response.headers.get('retry-after')
  return new Problem({
    kind: body.type?.replace('urn:odyssey:problem:', '') ?? 'internal',
    status: response.status,
    detail: body.detail ?? `The service answered with ${response.status}.`,
    requestId: body.instance ?? response.headers.get('x-request-id'),
    faults: body.errors ?? [],
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
  })
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  const detail = error instanceof Error ? error.message : String(error)
  return new Problem({ kind: 'internal', status: 0, detail })
}
