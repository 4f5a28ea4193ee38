type Receiver = {
  readonly disabledAtMs: number | null
  readonly failures: number
  readonly lastError: string | null
  readonly lastDeliveredAtMs: number | null
}

/** Whether what is sent to a receiver, be it of alerts or of the audit, arrives. */
export function describeDelivery({ disabledAtMs, failures, lastError, lastDeliveredAtMs }: Receiver): string {
  if (disabledAtMs !== null) return 'disabled'
  if (failures > 0) return `failed ${failures} times: ${lastError ?? ''}`
  return lastDeliveredAtMs === null ? 'nothing sent yet' : `delivered ${new Date(lastDeliveredAtMs).toISOString()}`
}

/** What is said once of a receiver that is made. The secret has a line of its own, so that it can be copied whole. */
export function describeMade({ id, secret }: { readonly id: string; readonly secret: string | null }): string[] {
  if (secret === null) return [`${id} is made.`]
  return [`${id} is made. What it sends is signed with this secret, which is shown only now:`, '', `  ${secret}`]
}
