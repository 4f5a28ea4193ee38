import type { Lifecycle } from '../../core/model.ts'

/** Where the operator has announced a model's end: since when (RFC 9745), and until when it answers (RFC 8594). */
export function lifecycleHeaders(lifecycle: Lifecycle | null | undefined): Record<string, string> {
  if (lifecycle === null || lifecycle === undefined) return {}
  const { deprecatedAtMs, retiresAtMs } = lifecycle
  return {
    deprecation: `@${Math.floor(deprecatedAtMs / 1_000)}`,
    ...(retiresAtMs !== null && { sunset: new Date(retiresAtMs).toUTCString() }),
  }
}
