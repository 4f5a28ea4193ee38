/** Answers to requests that may be sent again, for a day. */
export type StoredAnswerTable = {
  /** A hash of who asked and the key they gave the request. */
  readonly id: string
  /** A hash of what was asked: another request under the same key is refused. */
  readonly fingerprint: string
  /** Null until the transaction that makes the change ends. */
  status: number | null
  /** Sealed: some answers hold a key that can be read nowhere else. */
  body: string | null
  readonly created_at: number
}
