/** A configuration that cannot be used, with one readable line per fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
  }
}
