/** The code by which the system names a failure, such as `ENOENT`; null where there is none. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}
