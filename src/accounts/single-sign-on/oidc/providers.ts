import type { JWTVerifyGetKey } from 'jose'
import type { Configuration } from 'openid-client'
import type { Clock } from '../../../lib/clock.ts'
import { SsoFault } from '../fault.ts'
import type { GuardedFetch } from './guarded-fetch.ts'
import { loadOidcLibraries } from './libraries.ts'

/** What is agreed with a provider. */
export type ProviderSettings = {
  readonly id: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly tokenAuth: 'client_secret_basic' | 'client_secret_post'
  readonly signingAlgorithm: string
}

export type Provider = {
  readonly configuration: Configuration
  readonly settings: ProviderSettings
  readonly findKey: JWTVerifyGetKey
}

export type ProvidersOptions = {
  readonly fetch: GuardedFetch
  readonly clock: Clock
  readonly refreshMs: number
  readonly skewSeconds: number
}

type Known = { readonly key: string; readonly readAtMs: number; readonly provider: Promise<Provider> }

const timeoutSeconds = 5
/** About 20 KB each. */
const knownMax = 1_000

/** Knows what the providers say of themselves, and reads it anew now and then. */
export class Providers {
  readonly skewSeconds: number
  readonly #options: ProvidersOptions
  readonly #known = new Map<string, Known>()

  constructor(options: ProvidersOptions) {
    this.#options = options
    this.skewSeconds = options.skewSeconds
  }

  /** Throws for one that cannot be read and was not read before under the same settings. */
  async find(settings: ProviderSettings): Promise<Provider> {
    const key = JSON.stringify(settings)
    const known = this.#known.get(settings.id)
    const nowMs = this.#options.clock.monotonicMs()
    if (known?.key === key && nowMs - known.readAtMs < this.#options.refreshMs) return known.provider
    const provider = this.#read(settings)
    this.#remember(settings.id, { key, readAtMs: nowMs, provider })
    try {
      return await provider
    } catch (cause) {
      // A description that was good until now is better than none.
      if (known?.key === key) this.#remember(settings.id, known)
      else this.#known.delete(settings.id)
      if (known?.key === key) return known.provider
      throw new SsoFault('provider-unreachable', { cause })
    }
  }

  #remember(id: string, known: Known): void {
    this.#known.delete(id)
    const oldest = this.#known.keys().next()
    if (this.#known.size >= knownMax && oldest.done !== true) this.#known.delete(oldest.value)
    this.#known.set(id, known)
  }

  async #read(settings: ProviderSettings): Promise<Provider> {
    const { fetch, clock, skewSeconds } = this.#options
    const { client, tokens } = await loadOidcLibraries()
    const secret = settings.tokenAuth === 'client_secret_post' ? client.ClientSecretPost : client.ClientSecretBasic
    const metadata = {
      id_token_signed_response_alg: settings.signingAlgorithm,
      [client.clockTolerance]: skewSeconds,
      [client.clockSkew]: Math.round((clock.nowMs() - Date.now()) / 1_000),
    }
    const configuration = await client.discovery(
      new URL(settings.issuer),
      settings.clientId,
      metadata,
      secret(settings.clientSecret),
      {
        [client.customFetch]: (url, init) => fetch(url, init),
        timeout: timeoutSeconds,
        // Which addresses may be asked without TLS is decided by `fetch`.
        execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
      },
    )
    const { issuer, jwks_uri: keys, authorization_endpoint: entrance } = configuration.serverMetadata()
    // Some providers name one issuer for all their tenants and put the token's own tenant in its place.
    if (issuer !== settings.issuer || keys === undefined) throw new Error('The description is of another issuer.')
    if (entrance === undefined || !/^https?:$/.test(new URL(entrance).protocol)) {
      throw new Error('The description names no address to sign in at.')
    }
    const findKey = tokens.createRemoteJWKSet(new URL(keys), {
      [tokens.customFetch]: (url, init) => fetch(url, init),
      timeoutDuration: timeoutSeconds * 1_000,
    })
    return { configuration, settings, findKey }
  }
}
