import { formatBytes } from '../../lib/format-bytes.ts'

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

/** What an operator reads when weights cannot be fetched: what is wrong, and what to do. */
export function describeFault({ fault, message }: DownloadError, model: string): string {
  switch (fault.kind) {
    case 'unreachable':
      return (
        `${message} Is this machine offline? Without a network, copy a GGUF file onto it ` +
        `and run: odyssey models use ${model} FILE`
      )
    case 'status':
      if (fault.status !== 401 && fault.status !== 403) return message
      return (
        `${message} What was asked for does not exist, is private, or has terms to be accepted on its page. ` +
        'Set HF_TOKEN to the token of an account that may read it.'
      )
    case 'no-space':
      return (
        `${message} ${exact(fault.neededBytes)} are needed, of which some stay free for the service's own records, ` +
        `and ${exact(fault.freeBytes)} are free. ${resumable}`
      )
    case 'no-progress':
      return `${message} ${resumable}`
    case 'refused':
      return message
    default:
      return fault satisfies never
  }
}

export const resumable = 'What has arrived is kept; the same command goes on from there.'

function exact(bytes: number): string {
  return `${bytes.toLocaleString('en-US')} bytes (${formatBytes(bytes)})`
}
