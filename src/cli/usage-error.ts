/** A command line that cannot be understood; the usage text follows it. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
