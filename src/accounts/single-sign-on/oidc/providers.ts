import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
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
  /** The same with the provider’s keys as they are known by now, for one exchange. */
  forExchange(): Configuration
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
    const isClient = secret(settings.clientSecret)
    const configuration = await client.discovery(new URL(settings.issuer), settings.clientId, metadata, isClient, {
      [client.customFetch]: (url, init) => fetch(url, init),
      timeout: timeoutSeconds,
      // Which addresses may be asked without TLS is decided by `fetch`.
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
    })
    const { issuer, jwks_uri: keys, authorization_endpoint: entrance } = configuration.serverMetadata()
    // Some providers name one issuer for all their tenants and put the token's own tenant in its place.
    if (issuer !== settings.issuer || keys === undefined) throw new Error('The description is of another issuer.')
    if (entrance === undefined || !/^https?:$/.test(new URL(entrance).protocol)) {
      throw new Error('The description names no address to sign in at.')
    }
    const known = new ProviderKeys(keys, this.#options)
    const findKey: JWTVerifyGetKey = async (header, token) => {
      const find = async (set: Promise<JSONWebKeySet>) => tokens.createLocalJWKSet(await set)(header, token)
      try {
        return await find(known.read())
      } catch (error) {
        if (!(error instanceof tokens.errors.JWKSNoMatchingKey)) throw error
        return find(known.readAnew('logout'))
      }
    }
    const forExchange = () => {
      const own = new client.Configuration(configuration.serverMetadata(), settings.clientId, metadata, isClient)
      own[client.customFetch] = (url, init) => (known.isAt(url) ? known.answer() : fetch(url, init))
      own.timeout = timeoutSeconds
      client.allowInsecureRequests(own)
      client.enableNonRepudiationChecks(own)
      const { latest } = known
      // As old as the library wants keys to be before it looks for one that is not among them.
      if (latest !== null) client.setJwksCache(own, { jwks: latest, uat: Math.floor(Date.now() / 1_000) - 60 })
      return own
    }
    return { configuration, settings, findKey, forExchange }
  }
}

const keysLastMs = 300_000
const anewMs = 30_000

/**
 * The keys of a provider. A provider may sign with a new one from one moment to the next, however lately its keys were
 * read: for a key that is not among them they are read anew at once, but for that reason once in 30 seconds. Logout
 * tokens come from anybody, so what is read for them has a count of its own.
 */
class ProviderKeys {
  readonly #address: string
  readonly #options: Pick<ProvidersOptions, 'fetch' | 'clock'>
  readonly #anewAtMs = new Map<'exchange' | 'logout', number>()
  #known: { readonly keys: JSONWebKeySet; readonly readAtMs: number } | null = null

  constructor(address: string, options: Pick<ProvidersOptions, 'fetch' | 'clock'>) {
    this.#address = new URL(address).href
    this.#options = options
  }

  /** Null where they are yet to be read, or to be read again. */
  get latest(): JSONWebKeySet | null {
    const known = this.#known
    const isOld = known === null || this.#options.clock.monotonicMs() - known.readAtMs >= keysLastMs
    return isOld ? null : known.keys
  }

  async read(): Promise<JSONWebKeySet> {
    return this.latest ?? this.#fetch()
  }

  async readAnew(reader: 'exchange' | 'logout'): Promise<JSONWebKeySet> {
    const nowMs = this.#options.clock.monotonicMs()
    const { latest } = this
    if (latest !== null && nowMs - (this.#anewAtMs.get(reader) ?? -Infinity) < anewMs) return latest
    this.#anewAtMs.set(reader, nowMs)
    return this.#fetch()
  }

  isAt(url: string): boolean {
    return url === this.#address
  }

  /** As the provider answers. The library asks for them where it was given none, or none that fits. */
  async answer(): Promise<Response> {
    return Response.json(await (this.latest === null ? this.read() : this.readAnew('exchange')))
  }

  async #fetch(): Promise<JSONWebKeySet> {
    const response = await this.#options.fetch(this.#address, { headers: { accept: 'application/json' } })
    const found = (await response.json()) as Partial<JSONWebKeySet> | null
    if (response.status !== 200 || !Array.isArray(found?.keys)) throw new Error('The provider shows no keys.')
    const keys = { keys: found.keys }
    this.#known = { keys, readAtMs: this.#options.clock.monotonicMs() }
    return keys
  }
}
