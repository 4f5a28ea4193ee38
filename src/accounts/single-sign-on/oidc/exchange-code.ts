import { createHash } from 'node:crypto'
import { codeOf } from '../../../lib/message-of.ts'
import { SsoFault, type FaultCode } from '../fault.ts'
import { loadOidcLibraries } from './libraries.ts'
import type { Provider } from './providers.ts'

/** What only this service and, of two of them, the provider know of a way that was begun. */
export type FlowSecrets = { readonly state: string; readonly nonce: string; readonly verifier: string }

/** The claims of a token whose signature, issuer, audience, nonce and times were checked. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string }

type Asked = {
  readonly secrets: FlowSecrets
  readonly redirectUri: string
  readonly scopes: string
  /** Whether the provider has to ask anew who somebody is. */
  readonly isProof: boolean
}

/** Where the browser is sent to sign in. */
export async function addressToSignIn({ configuration }: Provider, asked: Asked): Promise<string> {
  const { secrets, redirectUri, scopes, isProof } = asked
  const { client } = await loadOidcLibraries()
  const address = client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: scopes,
    state: secrets.state,
    nonce: secrets.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
    ...(isProof && { prompt: 'login', max_age: '0' }),
  })
  return address.href
}

/** An address may have some 8,000 characters; without the token the provider asks whom it is about. */
const hintLengthMax = 6_000

/** Where the provider signs somebody out and sends the browser back from (RP-Initiated Logout 1.0); null where it cannot. */
export function addressToSignOut(
  { configuration, settings }: Provider,
  {
    idToken,
    returnUri,
    state,
  }: { readonly idToken: string | null; readonly returnUri: string; readonly state: string },
): string | null {
  const { end_session_endpoint: endpoint } = configuration.serverMetadata()
  if (endpoint === undefined || !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) return null
  const address = new URL(endpoint)
  const hint = idToken === null || idToken.length > hintLengthMax ? {} : { id_token_hint: idToken }
  const fields = { ...hint, client_id: settings.clientId, post_logout_redirect_uri: returnUri, state }
  for (const [name, value] of Object.entries(fields)) address.searchParams.set(name, value)
  return address.href
}

type Returned = {
  /** The address to which the provider has sent the browser back, as this service is called outside. */
  readonly address: URL
  readonly secrets: FlowSecrets
  readonly isProof: boolean
  /** What is asked for separately where the token has none of it. */
  readonly wanted: readonly string[]
  /** When the way was begun. */
  readonly begunAtMs: number
  readonly nowMs: number
  readonly skewSeconds: number
}

/** The claims, and the token that they stand in. */
type Exchanged = { readonly claims: Claims; readonly idToken: string }

/** Exchanges the code for claims. Throws for everything that is not exactly what was asked for. */
export async function exchangeCode(provider: Provider, returned: Returned): Promise<Exchanged> {
  const { secrets, address, isProof } = returned
  const { client } = await loadOidcLibraries()
  let tokens
  try {
    tokens = await client.authorizationCodeGrant(provider.forExchange(), address, {
      expectedState: secrets.state,
      expectedNonce: secrets.nonce,
      pkceCodeVerifier: secrets.verifier,
      idTokenExpected: true,
    })
  } catch (cause) {
    throw new SsoFault(classify(cause), { cause })
  }
  const claims: Readonly<Record<string, unknown>> | undefined = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) throw new SsoFault('token-invalid')
  checkSubject(claims['sub'])
  checkParty(claims, provider.settings.clientId)
  checkTimes(claims, returned)
  await checkAccessToken(claims['at_hash'], tokens.id_token, tokens.access_token)
  if (isProof) checkAskedAnew(claims['auth_time'], returned)
  const said = { claims: claims as Claims, accessToken: tokens.access_token, wanted: returned.wanted }
  return { claims: await addMissing(provider, said), idToken: tokens.id_token }
}

type Missing = { readonly claims: Claims; readonly accessToken: string; readonly wanted: readonly string[] }

/** Some providers keep the token small. What they say of somebody else is refused, and what was signed stays. */
async function addMissing({ configuration }: Provider, { claims, accessToken, wanted }: Missing): Promise<Claims> {
  const hasAll = wanted.every((name) => claims[name] !== undefined)
  if (hasAll || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  const { client } = await loadOidcLibraries()
  try {
    return { ...(await client.fetchUserInfo(configuration, accessToken, claims.sub)), ...claims }
  } catch (cause) {
    throw new SsoFault(classify(cause), { cause })
  }
}

/** The library's codes, as far as they tell administrators something. */
const codes: Readonly<Record<string, FaultCode>> = {
  OAUTH_AUTHORIZATION_RESPONSE_ERROR: 'provider-refused',
  OAUTH_RESPONSE_BODY_ERROR: 'code-refused',
  OAUTH_WWW_AUTHENTICATE_CHALLENGE: 'code-refused',
  OAUTH_JWT_TIMESTAMP_CHECK_FAILED: 'token-time',
  OAUTH_JWT_CLAIM_COMPARISON_FAILED: 'claims-invalid',
  OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED: 'claims-invalid',
  OAUTH_KEY_SELECTION_FAILED: 'signature-invalid',
  OAUTH_RESPONSE_IS_NOT_CONFORM: 'provider-unreachable',
  OAUTH_RESPONSE_IS_NOT_JSON: 'provider-unreachable',
  OAUTH_TIMEOUT: 'provider-unreachable',
  OAUTH_PARSE_ERROR: 'token-invalid',
}

/** What the library tells by its words alone, which are pinned with its version. */
const words: readonly (readonly [RegExp, FaultCode])[] = [
  [/signature verification/, 'signature-invalid'],
  [/response parameter|"code" parameter|JARM|implicit and hybrid/, 'answer-invalid'],
  [/claim/, 'claims-invalid'],
]

function classify(error: unknown): FaultCode {
  const code = String(codeOf(error))
  if (code === 'OAUTH_INVALID_RESPONSE' || code === 'OAUTH_UNSUPPORTED_OPERATION') {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
    return words.find(([pattern]) => pattern.test(reason))?.[1] ?? 'token-invalid'
  }
  return codes[code] ?? 'provider-unreachable'
}

const subjectLengthMax = 255

/** OpenID Connect allows a subject no more characters, and an identity hangs on all of them. */
function checkSubject(subject: unknown): void {
  if (typeof subject === 'string' && subject.length > 0 && subject.length <= subjectLengthMax) return
  throw new SsoFault('subject-invalid')
}

/** Whoever the token was made for has to be this service, also where there is but one audience. */
function checkParty({ azp }: Readonly<Record<string, unknown>>, clientId: string): void {
  if (azp !== undefined && azp !== clientId) throw new SsoFault('claims-invalid')
}

/** A token answers a question of some minutes ago: it was made after that, and not in the future. */
function checkTimes(claims: Readonly<Record<string, unknown>>, { nowMs, begunAtMs, skewSeconds }: Returned): void {
  const { iat } = claims
  if (typeof iat !== 'number') throw new SsoFault('claims-invalid')
  const isBetween = iat * 1_000 >= begunAtMs - skewSeconds * 1_000 && iat * 1_000 <= nowMs + skewSeconds * 1_000
  if (!isBetween) throw new SsoFault('token-time')
}

function checkAskedAnew(authTime: unknown, { begunAtMs, skewSeconds }: Returned): void {
  if (typeof authTime !== 'number') throw new SsoFault('claims-invalid')
  if (authTime * 1_000 < begunAtMs - skewSeconds * 1_000) throw new SsoFault('token-time')
}

/** Where a token says which access token it came with, it did come with that one. */
async function checkAccessToken(hash: unknown, idToken: string, accessToken: string): Promise<void> {
  if (hash === undefined) return
  const { tokens } = await loadOidcLibraries()
  const { alg = '' } = tokens.decodeProtectedHeader(idToken)
  const bits = /^(?:RS|PS|ES)(256|384|512)$/.exec(alg)?.[1] ?? '512'
  const digest = createHash(`sha${bits}`).update(accessToken).digest()
  if (hash !== digest.subarray(0, digest.length / 2).toString('base64url')) throw new SsoFault('claims-invalid')
}
