import { createSetupLink, isSetupNeeded } from '../../accounts/sign-in/setup.ts'
import type { Config } from '../../config/schema.ts'
import type { Installation } from './open-installation.ts'

/** Where people sign in. Browsers have passkeys at `localhost`, and none at the address behind that name. */
export class Site {
  readonly #publicUrl: string | null
  #port: string

  constructor({ server: { publicUrl }, port }: Pick<Config, 'server' | 'port'>) {
    this.#publicUrl = publicUrl
    this.#port = String(port)
  }

  /** Tells the port that was free, where any was asked for. */
  listensAt(address: string): void {
    this.#port = new URL(address).port
  }

  get url(): string {
    return this.#publicUrl ?? `http://localhost:${this.#port}`
  }
}

/** The link by which the first owner signs in. */
export type SetupLink =
  /** There is an owner. */
  | { readonly kind: 'done' }
  | { readonly kind: 'shown'; readonly link: string }
  /** Logs are read by many and kept for long, so what is no terminal is told of the command instead. */
  | { readonly kind: 'withheld' }

/** Makes the link anew with every start, until somebody has used it. */
export async function makeSetupLink(
  { accounts }: Pick<Installation, 'accounts'>,
  { site, isTerminal }: { readonly site: Site; readonly isTerminal: boolean },
): Promise<SetupLink> {
  if (!isTerminal) return { kind: (await isSetupNeeded(accounts)) ? 'withheld' : 'done' }
  const token = await createSetupLink(accounts)
  return token === null ? { kind: 'done' } : { kind: 'shown', link: `${site.url}/setup#${token}` }
}
