import { createHmac } from 'node:crypto'
import type { ConnectionSettings } from '../../src/accounts/single-sign-on/connections.ts'
import type { FaultCode } from '../../src/accounts/single-sign-on/fault.ts'
import {
  base64url,
  clientSecret,
  otherJwk,
  otherKey,
  publicPem,
  signWith,
  type HostileProvider,
  type Lie,
} from './hostile-provider.ts'

export type Forgery = {
  readonly name: string
  readonly code: FaultCode
  readonly lie?: (provider: HostileProvider) => Lie
  /** Changes what the browser brings back. */
  readonly params?: (params: URLSearchParams) => void
  readonly settings?: Partial<ConnectionSettings>
}

type Fields = Record<string, unknown>
const claims = (change: (claims: Fields) => Fields) => () => ({ claims: change })
const without = (name: string) => claims(({ [name]: _, ...rest }) => rest)
const secondsOf = ({ iat }: Fields) => iat as number

const signed: readonly Forgery[] = [
  {
    name: '1 a key that is not of the provider',
    code: 'signature-invalid',
    lie: () => ({ signature: signWith('sha256', otherKey) }),
  },
  {
    name: '2 no signature that is one',
    code: 'signature-invalid',
    lie: () => ({ signature: () => Buffer.from('nonsense') }),
  },
  {
    name: '3 alg none',
    code: 'token-invalid',
    lie: () => ({ header: (header) => ({ ...header, alg: 'none' }), signature: () => Buffer.alloc(0) }),
  },
  {
    name: '4 HS256 with the client secret',
    code: 'token-invalid',
    lie: () => ({
      header: (header) => ({ ...header, alg: 'HS256' }),
      signature: (input) => createHmac('sha256', clientSecret).update(input).digest(),
    }),
  },
  {
    name: '5 HS256 with the public key',
    code: 'token-invalid',
    lie: () => ({
      header: (header) => ({ ...header, alg: 'HS256' }),
      signature: (input) => createHmac('sha256', publicPem).update(input).digest(),
    }),
  },
  {
    name: '6 RS384 where RS256 is agreed',
    code: 'token-invalid',
    lie: () => ({ header: (header) => ({ ...header, alg: 'RS384' }), signature: signWith('sha384') }),
  },
  {
    name: '7 a key in the token',
    code: 'signature-invalid',
    lie: () => ({
      header: (header) => ({ ...header, jwk: otherJwk({ kid: 'k1' }) }),
      signature: signWith('sha256', otherKey),
    }),
  },
  {
    name: '8 an address of keys in the token',
    code: 'signature-invalid',
    lie: ({ issuer }) => ({
      header: (header) => ({ ...header, jku: `${issuer}/evil-keys`, x5u: `${issuer}/evil-certificate` }),
      signature: signWith('sha256', otherKey),
    }),
  },
  {
    name: '9 a critical extension that is unknown',
    code: 'token-invalid',
    lie: () => ({ header: (header) => ({ ...header, crit: ['x'], x: 1 }) }),
  },
  {
    name: '10 a kid that is a path or SQL',
    code: 'signature-invalid',
    lie: () => ({ header: (header) => ({ ...header, kid: "../../k1' or '1'='1" }) }),
  },
  {
    name: '11 an unknown kid',
    code: 'signature-invalid',
    lie: () => ({ header: (header) => ({ ...header, kid: 'k9' }) }),
  },
  {
    name: '12 no kid among two keys',
    code: 'signature-invalid',
    lie: () => ({
      header: ({ kid: _, ...header }) => header,
      keys: (keys) => [...keys, otherJwk({ kid: 'k2', alg: 'RS256', use: 'sig' })],
    }),
  },
  {
    name: '13 a key for encryption',
    code: 'signature-invalid',
    lie: () => ({ keys: (keys) => keys.map((key) => ({ ...key, use: 'enc' })) }),
  },
]

const addressed: readonly Forgery[] = [
  { name: '14 another issuer', code: 'claims-invalid', lie: claims((c) => ({ ...c, iss: 'https://other.example' })) },
  {
    name: '15 the issuer with a slash',
    code: 'claims-invalid',
    lie: claims((c) => ({ ...c, iss: `${String(c['iss'])}/` })),
  },
  { name: '16 another audience', code: 'claims-invalid', lie: claims((c) => ({ ...c, aud: 'another' })) },
  {
    name: '17 several audiences and no party',
    code: 'claims-invalid',
    lie: claims((c) => ({ ...c, aud: ['odyssey', 'another'] })),
  },
  {
    name: '18 several audiences and another party',
    code: 'claims-invalid',
    lie: claims((c) => ({ ...c, aud: ['odyssey', 'another'], azp: 'another' })),
  },
  { name: '19 one audience and another party', code: 'claims-invalid', lie: claims((c) => ({ ...c, azp: 'another' })) },
  { name: '20 no nonce', code: 'claims-invalid', lie: without('nonce') },
  { name: '21 another nonce', code: 'claims-invalid', lie: claims((c) => ({ ...c, nonce: 'x'.repeat(43) })) },
  { name: '22 expired', code: 'token-time', lie: claims((c) => ({ ...c, exp: secondsOf(c) - 61 })) },
  { name: '23 no end', code: 'claims-invalid', lie: without('exp') },
  { name: '24 no time at which it was made', code: 'claims-invalid', lie: without('iat') },
  {
    name: '25 made in a day',
    code: 'token-time',
    lie: claims((c) => ({ ...c, iat: secondsOf(c) + 86_400, exp: secondsOf(c) + 90_000 })),
  },
  { name: '26 made 30 days ago', code: 'token-time', lie: claims((c) => ({ ...c, iat: secondsOf(c) - 30 * 86_400 })) },
  { name: '27 not valid yet', code: 'token-time', lie: claims((c) => ({ ...c, nbf: secondsOf(c) + 120 })) },
  { name: '28 no subject', code: 'claims-invalid', lie: without('sub') },
  { name: '29 an empty subject', code: 'subject-invalid', lie: claims((c) => ({ ...c, sub: '' })) },
  { name: '30 a subject that is a number', code: 'claims-invalid', lie: claims((c) => ({ ...c, sub: 1 })) },
  {
    name: '31 a subject of 256 characters',
    code: 'subject-invalid',
    lie: claims((c) => ({ ...c, sub: 's'.repeat(256) })),
  },
  { name: '33 an end that is a text', code: 'claims-invalid', lie: claims((c) => ({ ...c, exp: String(c['exp']) })) },
  { name: '34 no ID token', code: 'token-invalid', lie: () => ({ idToken: () => undefined }) },
  {
    name: '35 the hash of another access token',
    code: 'claims-invalid',
    lie: claims((c) => ({ ...c, at_hash: 'x'.repeat(22) })),
  },
  {
    name: '36 another type of token',
    code: 'token-invalid',
    lie: () => ({ answer: (answer) => ({ ...answer, token_type: 'mac' }) }),
  },
]

const answered: readonly Forgery[] = [
  { name: '37 no state', code: 'no-flow', params: (params) => params.delete('state') },
  { name: '38 another state', code: 'no-flow', params: (params) => params.set('state', base64url('x'.repeat(32))) },
  {
    name: '39 the state twice',
    code: 'no-flow',
    params: (params) => params.append('state', params.get('state') ?? ''),
  },
  { name: '40 the code twice', code: 'answer-invalid', params: (params) => params.append('code', 'another') },
  {
    name: '41 the name of another provider',
    code: 'answer-invalid',
    params: (params) => params.set('iss', 'https://other.example'),
  },
  {
    name: '42 no name of the provider, which it has announced',
    code: 'answer-invalid',
    params: (params) => params.delete('iss'),
  },
  {
    name: '43 an error',
    code: 'provider-refused',
    params(params) {
      params.delete('code')
      params.set('error', 'access_denied')
    },
  },
  {
    name: '44 a signed answer that was not asked for',
    code: 'answer-invalid',
    params: (params) => params.set('response', 'e30.e30.e30'),
  },
  {
    name: '45 an ID token in the address',
    code: 'answer-invalid',
    params: (params) => params.set('id_token', 'e30.e30.e30'),
  },
  {
    name: '47 user info of another subject',
    code: 'claims-invalid',
    lie: () => ({ claims: ({ email: _, ...rest }) => rest, userInfo: (info) => ({ ...info, sub: 'subject-2' }) }),
  },
  {
    name: '52 an address that is not verified',
    code: 'email-unverified',
    lie: claims((c) => ({ ...c, email_verified: false })),
  },
  {
    name: '52 an address that is verified in a text',
    code: 'email-unverified',
    lie: claims((c) => ({ ...c, email_verified: 'true' })),
  },
  { name: '52 an address of which nothing is said', code: 'email-unverified', lie: without('email_verified') },
  {
    name: '52 an address of another domain',
    code: 'domain-unverified',
    lie: claims((c) => ({ ...c, email: 'new@other.example' })),
  },
  {
    name: '52 an address of a domain below',
    code: 'domain-unverified',
    lie: claims((c) => ({ ...c, email: 'new@sub.acme.example' })),
  },
  {
    name: '52 an address whose letters look like another’s',
    code: 'email-missing',
    lie: claims((c) => ({ ...c, email: 'new@аcme.example' })),
  },
  {
    name: '52 two addresses',
    code: 'email-missing',
    lie: claims((c) => ({ ...c, email: ['new@acme.example', 'owner@acme.example'] })),
  },
  {
    name: '52 an address with another in it',
    code: 'email-missing',
    lie: claims((c) => ({ ...c, email: 'a@acme.example,b@other.example' })),
  },
  {
    name: '55 another tenant',
    code: 'tenant-foreign',
    settings: { tenant: 'tenant-a' },
    lie: claims((c) => ({ ...c, tid: 'tenant-b' })),
  },
  { name: '55 no tenant', code: 'tenant-foreign', settings: { tenant: 'tenant-a' } },
  {
    name: '55 another hosted domain',
    code: 'tenant-foreign',
    settings: { tenant: 'acme.example' },
    lie: claims((c) => ({ ...c, hd: 'other.example' })),
  },
]

/** What is refused when somebody is sent back, each by one difference from what is taken. */
export const forgeries: readonly Forgery[] = [...signed, ...addressed, ...answered]
