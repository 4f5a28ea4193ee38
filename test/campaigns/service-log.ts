import type { Service } from '../harness/start-service.ts'
import { increment } from './campaign.ts'

type Line = { readonly level: string; readonly msg: string; readonly [key: string]: unknown }

/** The service's own log lines; anything else it printed is left out. */
export function readLog(service: Service): Line[] {
  const lines = service.output().stderr.split('\n')
  return lines.flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as Line] : []))
}

/** What the service itself takes for a failure, each kind once: a bug that an answer hides shows up here. */
export function errorLines(service: Service, expected: readonly string[] = []): string[] {
  const kinds = new Map<string, number>()
  for (const { level, msg, error, reason } of readLog(service)) {
    if (level !== 'error' || expected.includes(msg)) continue
    increment(kinds, `${msg} ${typeof reason === 'string' ? `(${reason})` : describeCause(error)}`)
  }
  return [...kinds].map(([kind, count]) => `${kind} ×${count}`)
}

function describeCause(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return ''
  const [message = '', ...frames] = String(error.stack).split('\n')
  return `(${message.slice(0, 200)}${frames.find((frame) => frame.includes('/src/'))?.replace(/ +at /, ' at ') ?? ''})`
}
