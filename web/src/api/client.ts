import { Problem, readProblem } from './problem.ts'
import type { Operations } from './types.ts'

export type OperationName = keyof Operations
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer']
export type BodyOf<Name extends OperationName> = Operations[Name]['body']
export type QueryOf<Name extends OperationName> = Operations[Name]['query']

type Given<Name extends OperationName> = {
  readonly [
    Part in 'params' | 'query' | 'body' as Operations[Name][Part] extends null
      ? never
      : {} extends Operations[Name][Part]
        ? never
        : Part
  ]: Operations[Name][Part]
} & {
  readonly params?: Operations[Name]['params']
  readonly query?: Operations[Name]['query']
  readonly body?: Operations[Name]['body']
}

export type AskOptions = {
  readonly signal?: AbortSignal | undefined
  /** Under the same one a POST is carried out once, however often it is sent; some take none, as their description says. */
  readonly idempotencyKey?: string
  /** What nobody asked for by a click keeps no session awake. */
  readonly isBackground?: boolean
}

/** Whoever has touched nothing for so long reads what changes by itself, and that keeps no session awake. */
const idleAfterMs = 60_000
let lastInputMs = Date.now()

/** Says that the reader has done something. */
export function noteInput(): void {
  lastInputMs = Date.now()
}

type Answers = {
  /**
   * Shows the way to sign in again; resolves with whether the reader did. Who has put it off is not asked again for what is
   * only read.
   */
  signInAgain(isRead: boolean): Promise<boolean>
  /** Has the reader show that it is them; resolves with whether they did. */
  proveAgain(): Promise<boolean>
}

const none: Answers = { signInAgain: () => Promise.resolve(false), proveAgain: () => Promise.resolve(false) }
const answers: { current: Answers } = { current: none }

/** Says who is asked when a session is over or a fresh proof is needed. */
export function answerWith(given: Answers): void {
  answers.current = given
}

/** Has the reader sign in again for what is read by itself; resolves with whether they did. */
export function askToSignIn(): Promise<boolean> {
  return answers.current.signInAgain(true)
}

/** Asks the management API; throws a `Problem` for everything but a success. */
export async function api<Name extends OperationName>(
  name: Name,
  given: Given<Name>,
  options: AskOptions = {},
): Promise<AnswerOf<Name>> {
  // By way of unknown: compared with every operation's own form, of which there are many, the compiler gives up.
  const sent = given as unknown as Sent
  const send = () => sendOnce(name, sent, options)
  try {
    return (await send()) as AnswerOf<Name>
  } catch (error) {
    if (!(error instanceof Problem) || !(await isMended(error, name))) throw error
    return (await send()) as AnswerOf<Name>
  }
}

async function isMended({ kind, status }: Problem, name: string): Promise<boolean> {
  if (kind === 'proof-needed') return answers.current.proveAgain()
  // Without a session these say what they have to say.
  if (status !== 401 || /^\w+ \/api\/v1\/(?:session|setup|invitations|portal)/.test(name)) return false
  return answers.current.signInAgain(name.startsWith('GET '))
}

let hearRead: (path: string) => void = () => {}

/** Tells what is read from now on, until the answer is called. */
export function hearReads(hear: (path: string) => void): () => void {
  hearRead = hear
  return () => (hearRead = () => {})
}

type Sent = {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

async function sendOnce(name: string, { params = {}, query = {}, body }: Sent, options: AskOptions): Promise<unknown> {
  const [method = 'GET', template = ''] = name.split(' ')
  const isRead = method === 'GET'
  const address = addressOf(template, params, query)
  if (isRead) hearRead(address)
  const response = await fetch(address, {
    method,
    headers: headersOf(options, { isRead, hasBody: body !== undefined }),
    credentials: 'same-origin',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(options.signal !== undefined && { signal: options.signal }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem({ kind: 'offline', status: 0, detail: 'Odyssey does not answer.' })
  })
  if (!response.ok) throw await readProblem(response)
  return response.status === 204 ? null : response.json()
}

type Kind = { readonly isRead: boolean; readonly hasBody: boolean }

function headersOf({ idempotencyKey, isBackground }: AskOptions, { isRead, hasBody }: Kind): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (hasBody) headers['content-type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  const isIdle = isRead && Date.now() - lastInputMs > idleAfterMs
  if (isBackground ?? isIdle) headers['x-odyssey-background'] = '1'
  return headers
}

/** The address of an operation, also for what is downloaded by a link. */
export function addressOf(
  template: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, unknown>> = {},
): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one))
  }
  const written = parameters.toString()
  return written === '' ? path : `${path}?${written}`
}
