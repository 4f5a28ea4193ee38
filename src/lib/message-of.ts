/** What a caught value says of itself, in words: libraries throw more than errors. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return describeIssues(thrown) ?? thrown.message
}

/** The validator's message is JSON for programs; what it found is in its issues. */
function describeIssues(error: Error): string | null {
  if (error.name !== 'ZodError' || !('issues' in error) || !Array.isArray(error.issues)) return null
  const issues = error.issues as readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
  return issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ')
}

/** A caught value as an error: libraries throw more than these. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** The code by which the system names a failure, such as `ENOENT`; null where there is none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
