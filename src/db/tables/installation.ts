/** One row at most: what is true of the database as a whole. */
export type InstallationTable = {
  readonly id: 'installation'
  /** Whose `secret.key` the hashes of keys were made under. */
  readonly secret_fingerprint: string
  readonly created_at: number
}
