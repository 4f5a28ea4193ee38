import type { Clock } from '../../lib/clock.ts'
import { formatBytes } from '../../lib/format-bytes.ts'
import type { Progress } from '../../models/download/fetch-file.ts'

export type ProgressOptions = {
  write(text: string): void
  /** A terminal is shown one line that changes; a log file gets a line now and then. */
  readonly isTerminal: boolean
  readonly clock: Clock
}

const terminalMs = 100
const logMs = 30_000
const barWidth = 24
/** The speed is that of the last few seconds. */
const speedMs = 3_000

export function createProgress({ write, isTerminal, clock }: ProgressOptions): Progress {
  let label = ''
  let shownMs = -Infinity
  let isLineOpen = false
  let samples: { readonly ms: number; readonly bytes: number }[] = []

  function end(): void {
    if (isLineOpen) write('\n')
    isLineOpen = false
  }
  return {
    begin(next) {
      end()
      label = next
      samples = []
      shownMs = isTerminal ? -Infinity : clock.monotonicMs()
    },
    report(bytes, totalBytes) {
      const now = clock.monotonicMs()
      samples = [...samples.filter(({ ms }) => now - ms < speedMs), { ms: now, bytes }]
      const isComplete = bytes === totalBytes
      if (now - shownMs < (isTerminal ? terminalMs : logMs) && !isComplete) return
      shownMs = now
      const line = describe(label, { bytes, totalBytes, bytesPerSecond: speedOf(samples) })
      // Clearing the rest of the line takes away what a longer one left.
      write(isTerminal ? `\r${line}\u001b[K` : `${line}\n`)
      isLineOpen = isTerminal
    },
    say(text) {
      end()
      write(`${text}\n`)
    },
    end,
  }
}

function speedOf(samples: readonly { readonly ms: number; readonly bytes: number }[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.ms - first.ms < 200 || last.bytes < first.bytes) return null
  return ((last.bytes - first.bytes) / (last.ms - first.ms)) * 1_000
}

type State = { readonly bytes: number; readonly totalBytes: number | null; readonly bytesPerSecond: number | null }

function describe(label: string, { bytes, totalBytes, bytesPerSecond }: State): string {
  const speed = bytesPerSecond === null ? '' : `  ${formatBytes(bytesPerSecond)}/s`
  if (totalBytes === null || totalBytes === 0) return `${label}  ${formatBytes(bytes)}${speed}`
  const share = Math.min(1, bytes / totalBytes)
  const filled = Math.round(share * barWidth)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)}`
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  const left =
    bytesPerSecond === null || bytesPerSecond < 1 ? '' : `  ${clockTime((totalBytes - bytes) / bytesPerSecond)}`
  return `${label}  ${bar} ${percent}  ${formatBytes(bytes)} of ${formatBytes(totalBytes)}${speed}${left}`
}

function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)]
  const parts = hours > 0 ? [hours, String(minutes).padStart(2, '0')] : [minutes]
  return `${[...parts, String(whole % 60).padStart(2, '0')].join(':')} left`
}
