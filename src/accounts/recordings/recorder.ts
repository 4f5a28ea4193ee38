// Keeps what is said in the requests of projects whose owners have asked for it. It holds no request up and fails none:
// what cannot be kept is missing, and where there is room for that a row says so.

import type { BlockStart, GenerationEvent } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { ApiKeyPrincipal, RecordingRules } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { RecordingState } from '../../db/tables/accounts.ts'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'
import { sealContent, type RecordedAnswer } from './content.ts'
import { dayMs, deleteOverRecordings } from './recordings.ts'

export type RecordedRequest = {
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
  /** The wire format's name. */
  readonly protocol: string
  /** As it came; null where it was longer than `bodyBytesMax` says. */
  readonly body: Uint8Array | null
}

/** Follows one request. */
export interface Recording {
  note(event: GenerationEvent): void
  /** Keeps what was noted until now; what ended without a reason broke off there. */
  end(): void
}

export interface Recorder {
  /** How long a body may be that is kept; null where nothing of a request under this key is. */
  bodyBytesMax(principal: ApiKeyPrincipal): number | null
  /** Null where nothing of the request is to be kept. */
  begin(request: RecordedRequest): Recording | null
  /** Waits for what is being written. */
  close(): Promise<void>
}

export type RecorderOptions = {
  /** Without, what was kept before is still deleted in its time. */
  readonly isEnabled: boolean
  readonly db: Database
  readonly key: Uint8Array
  readonly clock: Clock
  readonly log: Log
}

/** A body of more bytes is not kept, nor an answer of more characters. */
export const contentLengthMax = 8 * 1024 * 1024
/** What all requests that are followed and all rows that wait to be written hold at most. */
const heldBytesMax = 64 * 1024 * 1024
/** Where the database answers nothing, no more rows than these wait for it, those without content included. */
export const writesMax = 1_000
const deleteEveryMs = 600_000

export function createRecorder(options: RecorderOptions): Recorder {
  const { db, clock, log, isEnabled } = options
  const held = { bytes: 0 }
  const writing = new Set<Promise<void>>()
  const failed = (error: unknown) => log.warn({ error }, 'what was said in a request could not be kept')
  const stopDeleting = every(clock, deleteEveryMs, () =>
    deleteOverRecordings(db, clock.nowMs()).catch((error: unknown) =>
      log.warn({ error }, 'recordings whose time is over could not be deleted'),
    ),
  )
  const rulesAt = (nowMs: number, { recorded }: ApiKeyPrincipal) =>
    isEnabled && recorded !== undefined && nowMs < recorded.untilMs ? recorded : null
  return {
    bodyBytesMax: (principal) => (rulesAt(clock.nowMs(), principal) === null ? null : contentLengthMax),
    begin(request) {
      const atMs = clock.nowMs()
      const recorded = rulesAt(atMs, request.principal)
      if (recorded === null || writing.size >= writesMax) return null
      return new OneRecording({ request, recorded, atMs, held }, (write) => {
        const written = write(options).catch(failed)
        writing.add(written)
        void written.finally(() => writing.delete(written))
      })
    },
    async close() {
      await stopDeleting()
      await Promise.all(writing)
    },
  }
}

type Begun = {
  readonly request: RecordedRequest
  readonly recorded: RecordingRules
  readonly atMs: number
  readonly held: { bytes: number }
}

/** Takes what writes a row. */
type Keep = (write: (options: RecorderOptions) => Promise<void>) => void

class OneRecording implements Recording {
  readonly #begun: Begun
  readonly #keep: Keep
  readonly #answers: Answer[] = []
  #state: RecordingState = 'kept'
  #bytes = 0
  #answerLength = 0

  constructor(begun: Begun, keep: Keep) {
    this.#begun = begun
    this.#keep = keep
    const { body } = begun.request
    if (body === null) this.#state = 'too-large'
    else this.#hold(body.byteLength)
  }

  note(event: GenerationEvent): void {
    if (this.#state !== 'kept') return
    if (event.type === 'start') this.#answers.push({ blocks: [], reason: null })
    const answer = this.#answers.at(-1)
    if (answer === undefined) return
    if (event.type === 'block-start') answer.blocks.push({ block: event.block, texts: [] })
    else if (event.type === 'finish') answer.reason = event.reason.kind
    else if (event.type === 'delta') {
      answer.blocks.at(-1)?.texts.push(event.text)
      this.#answerLength += event.text.length
      if (this.#answerLength > contentLengthMax) this.#giveUp('too-large')
      else this.#hold(event.text.length)
    }
  }

  end(): void {
    this.#keep((options) => this.#write(options).finally(() => this.#letGo()))
  }

  #hold(bytes: number): void {
    const { held } = this.#begun
    if (held.bytes + bytes > heldBytesMax) return this.#giveUp('no-room')
    held.bytes += bytes
    this.#bytes += bytes
  }

  #letGo(): void {
    this.#begun.held.bytes -= this.#bytes
    this.#bytes = 0
  }

  #giveUp(state: RecordingState): void {
    this.#state = state
    this.#answers.length = 0
    this.#letGo()
  }

  async #write({ db, key }: RecorderOptions): Promise<void> {
    const { request, recorded, atMs } = this.#begun
    const { organizationId: organization_id, projectId: project_id } = request.principal
    const ends_at = atMs + recorded.days * dayMs
    const row = { request_id: request.requestId, organization_id, project_id, at: atMs, ends_at, state: this.#state }
    const content = this.#state === 'kept' ? await this.#seal(key) : null
    await db
      .insertInto('recordings')
      .values({ ...row, content, bytes: content?.length ?? 0 })
      .execute()
  }

  #seal(key: Uint8Array): Promise<string> {
    const { requestId, principal, protocol, body } = this.#begun.request
    const answers: RecordedAnswer[] = this.#answers.map(({ blocks, reason }) => ({
      blocks: blocks.map(({ block, texts }) => ({ ...block, text: texts.join('') })),
      reason,
    }))
    const content = { protocol, body: Buffer.from(body ?? []).toString('utf8'), answers }
    return sealContent(key, { organizationId: principal.organizationId, requestId }, content)
  }
}

type Answer = {
  readonly blocks: { readonly block: BlockStart; readonly texts: string[] }[]
  reason: string | null
}
