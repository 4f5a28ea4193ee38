import type { DownloadError } from './download-error.ts'
import { formatBytes } from '../../lib/format-bytes.ts'

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
