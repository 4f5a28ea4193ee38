/** Why a download cannot succeed by trying again. */
export type DownloadFault =
  /** No connection to the host came about. */
  | { readonly kind: 'unreachable'; readonly host: string }
  | { readonly kind: 'status'; readonly host: string; readonly status: number }
  | { readonly kind: 'no-space'; readonly neededBytes: number; readonly freeBytes: number }
  /** It was tried often enough without getting any further. */
  | { readonly kind: 'no-progress'; readonly host: string }
  | { readonly kind: 'refused' }

/** A download that is given up; the message is for a person. What has arrived is kept. */
export class DownloadError extends Error {
  override readonly name = 'DownloadError'
  readonly fault: DownloadFault

  constructor(fault: DownloadFault, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.fault = fault
  }
}

/** A try that failed where the next one may not. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  /** How long the server asks to be left alone. */
  readonly waitMs: number
  /** The host to which no connection came about; null for a failure of another kind. */
  readonly unreachableHost: string | null

  constructor(
    message: string,
    options: { readonly waitMs?: number; readonly unreachableHost?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.waitMs = options.waitMs ?? 0
    this.unreachableHost = options.unreachableHost ?? null
  }
}
