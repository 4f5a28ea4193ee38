import type { ManagementKeyPrincipal } from '../core/principal.ts'
import type { ChangeParts } from '../db/change.ts'

export type AccountsParts = ChangeParts & {
  /** Keys are stored as hashes under this secret; with another one none of them is recognised. */
  readonly hashSecret: Uint8Array
  /** Called after each change to who may do what, so that this process acts on it at once. */
  accessChanged?(): Promise<void>
  /** Called when somebody has shown a management key that is valid. */
  managementKeyUsed?(principal: ManagementKeyPrincipal, address: string | undefined): void
}
